// Written by tools/write_console_types.py from the OpenAPI document of the API. Do not edit: run `make docs`.

/** The question of a workflow. */
export interface ApprovalPayload {
  question: string;
  details?: unknown;
  workflow: string;
  node: string;
  lineage: string;
  actions: string[];
}

/** A run of a workflow waits for approval. */
export interface ApprovalQuestion {
  id: string;
  part: string;
  /** The id of the session, or of the approval. */
  subject: string;
  created_at: string;
  state: "pending" | "decided" | "withdrawn";
  decision?: DecisionTaken | null;
  /** The interface of the decision: `console`, `terminal`, `client` or `agent`. */
  door?: string | null;
  /** The name that the decider claimed. */
  decided_by?: string | null;
  decided_at?: string | null;
  kind: "approval";
  payload: ApprovalPayload;
}

export interface Body_check_search_strategy {
  /** The data of an edit, as `decide` takes it. */
  data: Record<string, unknown>;
}

export interface Body_check_workflow {
  document: unknown;
}

export interface Body_decide_question {
  action: string;
  data?: unknown;
  note?: string | null;
}

export interface Body_decide_search {
  action: string;
  data?: Record<string, unknown> | null;
  note?: string | null;
  checkpoint_id?: string | null;
  /** Reply after this time at the latest. */
  wait_s?: number | null;
}

export interface Body_mark_papers {
  decisions: Record<string, PaperDecision | null>;
}

export interface Body_plan_run {
  inputs?: Record<string, unknown> | null;
}

export interface Body_put_papers_on_shelf {
  /** A shelf of `/api/search-shelves`, or a new name. */
  name: string;
  statuses?: ReviewStatus[];
}

export interface Body_save_draft {
  final_name: string;
  description: string;
}

export interface Body_sign_in {
  token: string;
  name: string;
}

export interface Body_start_run {
  name: string;
  inputs?: Record<string, unknown> | null;
  /** Discard the results of earlier runs. */
  fresh?: boolean;
}

export interface Body_start_search {
  query: string;
  domain?: string;
  max_results?: number;
  /** Only these sources. */
  sources?: string[] | null;
  /** A trial with the shipped recordings. */
  offline?: boolean | null;
}

export interface Body_update_search {
  /** What is missing. */
  note?: string | null;
}

export interface Body_write_draft {
  document: Record<string, unknown>;
}

/** A tool of an MCP server was called. `subject` is the name of the server. */
export interface CallChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "call";
  tool?: string | null;
}

/** A run whose process was asked to cancel it. */
export interface CancelledRun {
  run_id: string;
  status: "cancelling";
}

/** The findings of the checker. */
export interface CheckReply {
  valid: boolean;
  diagnostics: Diagnostic[];
}

/** The question that waits. */
export interface CheckpointReply {
  id: string;
  kind: string;
  iteration: number;
  payload: Record<string, unknown>;
  actions: string[];
}

/** The decision about a question. */
export interface DecisionTaken {
  action: string;
  data?: unknown;
  note?: string | null;
}

/** A finding of the checker. */
export interface Diagnostic {
  severity: "error" | "warning";
  code: string;
  /** The position in the document, such as `nodes[0].params.url`. */
  path: string;
  message: string;
  node?: string | null;
  hint?: string | null;
  available?: string[];
  more_available?: number | null;
  /** The allowed value that is most similar to the one given. */
  nearest?: string | null;
  /** A piece of a workflow that would be right. */
  example?: unknown;
}

/** A draft. */
export interface DraftSummary {
  name: string;
  description: string;
  inputs: string[];
  updated_at: string;
}

/** The decision that was taken before. */
export interface EarlierDecision {
  message: string;
  same_as_sent: boolean;
  checkpoint_id: string;
  action: string | null;
  note: string | null;
  door: string | null;
  decided_by: string | null;
  decided_at: string | null;
}

/** The reply of `execute` for a run that could not begin or ended at once. */
export interface EndedRun {
  success: boolean;
  outputs: Record<string, unknown>;
  error: RunError | null;
  checkpoint: ResumeState | null;
  reused_nodes: string[];
  run_id: string | null;
  duration_ms: number;
  warnings: string[];
}

/** The body of every failed request; further keys of `error` name the objects concerned. */
export interface ErrorBody {
  error: ErrorFacts;
}

/** The fields that every error has. */
export interface ErrorFacts {
  code: string;
  message: string;
  hint: string;
}

/** A page of exclusions. */
export interface ExclusionList {
  exclusions: ExclusionReply[];
  total: number;
  offset: number;
  limit: number;
  next_offset: number | null;
}

/** A screened paper that is not in the result. */
export interface ExclusionReply {
  paper_id: string;
  title: string;
  doi: string | null;
  round: number;
  reason: string;
  score: number | null;
  reviewer: string | null;
  at: string | null;
  detail: string | null;
}

/** The value of another record. */
export interface FieldAlternative {
  source: string;
  record_id: string;
  value: string | null;
}

/** The value of a field, its source, and the values of the other records. */
export interface FieldOrigin {
  field: string;
  value: string | null;
  source: string | null;
  alternatives: FieldAlternative[];
}

/** The PRISMA flow with your marks. `counts` has the papers by your status. */
export interface FlowReply {
  identified: Record<string, number>;
  removed: Record<string, number>;
  screened: number;
  excluded: Record<string, number>;
  included: number;
  round_count: number;
  labels: Record<string, string>;
  reasons: Record<string, number>;
  counts: Record<string, number>;
  partial: boolean;
  is_complete: boolean;
}

/** The state of the server. */
export interface Health {
  status: string;
  version: string;
}

/** A question was asked, decided, withdrawn or deleted. `subject` is the id of the question. */
export interface InboxChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "inbox";
  state?: "pending" | "decided" | "withdrawn" | "deleted" | null;
  part?: string | null;
  /** The id of the session, or of the approval. */
  about?: string | null;
}

/** A page of the inbox. */
export interface InboxPage {
  entries: (StrategyQuestion | ReviewQuestion | ApprovalQuestion)[];
  /** The value of `before` for the next page. */
  next: string | null;
  /** How many questions of each part wait. */
  pending: Record<string, number>;
}

/** An input that a workflow declares. */
export interface InputDeclaration {
  type: string;
  required: boolean;
  description?: string | null;
  default?: unknown;
  secret?: boolean;
}

/** The kind of papers that a query asks for. */
export type IntentType = "survey" | "method" | "dataset" | "baseline";

/** An N-body job began, progressed or ended. `subject` is its id. */
export interface JobChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "job";
}

/** A paper in short. */
export interface ListedPaper {
  id: string;
  title: string;
  authors: string[];
  more_authors?: number;
  year?: number | null;
  venue?: string | null;
  doi?: string | null;
  relevance_score: number;
  relevance_reason?: string | null;
  sources?: string[];
  retraction?: Record<string, unknown> | null;
  editorial_note?: string | null;
  status?: string | null;
  found_in_round?: number | null;
}

/** Your marks by paper id. */
export interface MarksReply {
  marks: Record<string, PaperDecision>;
}

/** A record that was merged into a paper, and why. */
export interface MergedRecord {
  source: string;
  record_id: string;
  reason: string;
  url: string | null;
}

/** A node of a run began or ended. `subject` is the id of the run. */
export interface NodeChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "node";
  node?: string | null;
  status?: "running" | "completed" | "reused" | "failed" | "waiting" | "skipped" | "uncertain" | null;
  duration_ms?: number | null;
}

/** An editorial notice. */
export interface NoticeReply {
  status: string;
  source: string;
  date?: string | null;
  notice_doi?: string | null;
  label?: string | null;
}

/** An output that a workflow declares. */
export interface OutputDeclaration {
  type?: string | null;
  description?: string | null;
  source: string;
}

/** The status that a reviewer gives a paper. A string with the status is accepted too. */
export interface PaperDecision {
  status: ReviewStatus;
  reason?: string | null;
}

/** A paper in full. */
export interface PaperDetails {
  rank: number;
  id: string;
  title: string;
  authors: string[];
  author_count: number;
  year: number | null;
  venue: string | null;
  doi: string | null;
  citation_key: string | null;
  relevance_score: number;
  sources: string[];
  retraction?: RetractionReply | null;
  editorial_note?: string | null;
  found_in_round: number;
  status: "include" | "exclude" | "maybe" | "undecided";
  reason: string | null;
  is_marked: boolean;
  others: ReviewDecisionReply[];
  others_hidden: number;
  differs: boolean;
  title_tree: TextNodeReply[];
  abstract_tree: TextNodeReply[];
  abstract_chars: number;
  volume: string | null;
  issue: string | null;
  pages: string | null;
  publisher: string | null;
  url: string | null;
  identifiers: Record<string, string>;
  work_type: string | null;
  citation_count: number;
  relevance_reason: string;
  tags: string[];
  notices: NoticeReply[];
  provenance: Provenance;
}

/** Counts of years and venues, and frequent authors and themes. */
export interface PaperFacets {
  by_year: Record<string, number>;
  by_venue: Record<string, number>;
  top_authors: string[];
  key_themes: string[];
}

/** A page of papers, and counts of all papers. */
export interface PaperList {
  papers: PaperRow[];
  total: number;
  offset: number;
  limit: number;
  next_offset: number | null;
  counts: Record<string, number>;
  facets: uraniborg__console__search_replies__PaperFacets;
  is_complete: boolean;
}

/** A paper in a list. The decisions of others are hidden until you have decided. */
export interface PaperRow {
  rank: number;
  id: string;
  title: string;
  authors: string[];
  author_count: number;
  year: number | null;
  venue: string | null;
  doi: string | null;
  citation_key: string | null;
  relevance_score: number;
  sources: string[];
  retraction?: RetractionReply | null;
  editorial_note?: string | null;
  found_in_round: number;
  status: "include" | "exclude" | "maybe" | "undecided";
  reason: string | null;
  is_marked: boolean;
  others: ReviewDecisionReply[];
  others_hidden: number;
  differs: boolean;
}

/** A person marked papers. `subject` is the id of the session. */
export interface PapersChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "papers";
  checkpoint_id?: string | null;
  marked?: number | null;
  reviewer?: string | null;
  /** The ids of up to 20 papers that were marked. */
  papers?: string[] | null;
}

/** A query as the search reads it. */
export interface ParsedIntent {
  topic: string;
  concepts: string[];
  intent_type: IntentType;
  constraints?: SearchConstraints;
  phrases?: string[];
  authors?: string[];
  venues?: string[];
  excluded?: string[];
  preferences?: string[];
  notes?: string[];
}

/** The origin of one part of a strategy: an earlier round, or this round and the reason. */
export interface PartOrigin {
  part: string;
  value: string;
  inherited: boolean;
  reason: string;
  by_person?: boolean;
}

/** The origin of one part of a strategy. */
export interface PartOriginReply {
  part: string;
  value: string;
  inherited: boolean;
  reason: string;
  by_person?: boolean;
}

/** The name of a person, as claimed. */
export interface PersonName {
  name: string;
}

/** What a run would do. */
export interface PlanReply {
  steps: PlannedStep[];
}

/** What a run would do at one node. */
export interface PlannedStep {
  node: string;
  type: string;
  effect: string;
  /** The parameters as far as they are known, with secrets masked. */
  params: Record<string, unknown>;
  will: "run" | "reuse" | "fail" | "skip";
  /** The values that have to be known to be certain. */
  waits_for: string[];
  problem?: string | null;
  items?: number | null;
  items_reused?: number | null;
}

/** The records of a paper, and the origin of each field. */
export interface Provenance {
  records: MergedRecord[];
  fields: FieldOrigin[];
}

/** A problem of a query; positions count characters of the text as it was sent. */
export interface QueryProblemReply {
  severity: "error" | "warning";
  start: number;
  end: number;
  message: string;
  hint: string;
}

/** A query with its problems, and as the sources receive it. */
export interface QueryView {
  boolean_query: string;
  keywords: string[];
  read_as: string;
  problems: QueryProblemReply[];
  translations: Translation[];
}

/** A question in a list. */
export interface QuestionSummary {
  id: string;
  part: string;
  kind: string;
  /** The id of the session, or of the approval. */
  subject: string;
  /** The beginning of the question. */
  title: string;
  created_at: string;
  state: "pending" | "decided" | "withdrawn";
  /** How many papers a review has. */
  papers?: number | null;
  /** The workflow that waits for approval. */
  workflow?: string | null;
  action?: string | null;
  /** The beginning of the note of the decision. */
  note?: string | null;
  door?: string | null;
  decided_by?: string | null;
  decided_at?: string | null;
}

/** A reason for an exclusion, and how many papers you excluded by it. */
export interface ReasonCount {
  reason: string;
  count: number;
}

/** The reasons that a review offers. */
export interface ReasonList {
  reasons: ReasonCount[];
}

/** Changes before this event were lost: read everything again. */
export interface Reset {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "reset";
}

/** The nodes that a failed run completed, and whether it can be resumed. */
export interface ResumeState {
  run_id: string | null;
  workflow: string | null;
  completed_nodes: string[];
  failed_node: string | null;
  node_actions: Record<string, string>;
  resumable: boolean;
}

/** A retraction. */
export interface RetractionReply {
  status: string;
  source: string;
  date?: string | null;
  notice_doi?: string | null;
}

/** The decision of one reviewer. */
export interface ReviewDecisionReply {
  status: "include" | "exclude" | "maybe" | "undecided";
  reason: string | null;
  reviewer: string;
  at: string | null;
}

/** The papers that a search found. `GET /api/searches/{session_id}/papers` lists all of them. */
export interface ReviewPayload {
  query: string;
  question: string;
  papers: ListedPaper[];
  total_papers: number;
  shown: number;
  more?: string | null;
  facets: PaperFacets;
  accumulated_count: number;
  status_counts?: Record<string, number>;
  stage_counts: Record<string, Record<string, number>>;
  strategy?: SearchStrategy | null;
}

/** A search asks which papers to keep. */
export interface ReviewQuestion {
  id: string;
  part: string;
  /** The id of the session, or of the approval. */
  subject: string;
  created_at: string;
  state: "pending" | "decided" | "withdrawn";
  decision?: DecisionTaken | null;
  /** The interface of the decision: `console`, `terminal`, `client` or `agent`. */
  door?: string | null;
  /** The name that the decider claimed. */
  decided_by?: string | null;
  decided_at?: string | null;
  kind: "result_review";
  payload: ReviewPayload;
}

/** The status of a paper in a review. */
export type ReviewStatus = "include" | "exclude" | "maybe" | "undecided";

/** A run began or ended. `subject` is the id of the run. */
export interface RunChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "run";
  workflow?: string | null;
  status?: "running" | "success" | "failed" | "cancelled" | "waiting" | "interrupted" | null;
}

/** A run with its nodes. */
export interface RunDetails {
  id: string;
  workflow: string;
  source: string;
  status: "running" | "success" | "failed" | "cancelled" | "waiting" | "interrupted";
  started_at: string;
  ended_at: string | null;
  duration_ms: number | null;
  failed_node: string | null;
  error: RunError | null;
  reused: number | null;
  resumed_from: string | null;
  /** The inputs, with secrets masked; of long inputs `characters` and `beginning`. */
  inputs: unknown;
  /** The outputs; instead of a large value its size in `bytes`. */
  outputs: unknown;
  nodes: RunNode[];
}

/** Why a run or a node failed. */
export interface RunError {
  type?: string | null;
  code: string;
  message: string;
  hint?: string | null;
  node?: string | null;
  /** The id of the question in the inbox that the run waits for. */
  approval_id?: string | null;
}

/** The last runs. */
export interface RunList {
  runs: RunSummary[];
}

/** A node of a run that has ended. `seq` is its position in the order of the ends. */
export interface RunNode {
  seq: number;
  node: string;
  type: string;
  status: "running" | "completed" | "reused" | "failed" | "waiting" | "skipped" | "uncertain";
  action: string | null;
  started_at: string | null;
  duration_ms: number | null;
  error: RunError | null;
  /** Why an earlier result was not reused. */
  note: string | null;
}

/** A run in the log. */
export interface RunSummary {
  id: string;
  workflow: string;
  source: string;
  status: "running" | "success" | "failed" | "cancelled" | "waiting" | "interrupted";
  started_at: string;
  ended_at: string | null;
  duration_ms: number | null;
  failed_node: string | null;
  error: RunError | null;
  reused: number | null;
  resumed_from: string | null;
  /** The inputs, with secrets masked; of long inputs `characters` and `beginning`. */
  inputs: unknown;
  /** The outputs; instead of a large value its size in `bytes`. */
  outputs: unknown;
}

/** A draft that was moved to the library. */
export interface SavedDraft {
  success: boolean;
  name: string;
  path: string;
  warnings: string[];
}

/** A workflow of the library. */
export interface SavedWorkflow {
  name: string;
  description: string;
  inputs: string[];
  updated_at: string;
  execution_count: number;
}

/** The limits of a search. */
export interface SearchConstraints {
  year_from?: number | null;
  year_to?: number | null;
  language?: string | null;
  max_results?: number;
}

/** A page of searches, the one used last first. */
export interface SearchList {
  sessions: SearchSummary[];
  total: number;
  offset: number;
  limit: number;
  next_offset: number | null;
}

/** What a new search can choose, and the values it has otherwise. */
export interface SearchOptions {
  domains: string[];
  sources: SourceChoice[];
  default_domain: string;
  default_max_results: number;
  max_results: number;
  offline: boolean;
  example: string;
}

/** One boolean query with the keywords that it uses. */
export interface SearchQuery {
  keywords: string[];
  synonym_map?: SynonymMap[];
  boolean_query: string;
}

/** A boolean query with its keywords. */
export interface SearchQueryReply {
  boolean_query: string;
  keywords: string[];
}

/** The state of a search, as the tools `search_papers`, `decide` and `get_session` reply with it. */
export interface SearchState {
  session_id: string;
  query: string;
  is_complete: boolean;
  has_pending_checkpoint: boolean;
  iteration: number;
  round: number;
  phase: string;
  rounds_left: number;
  elapsed_s: number;
  summary: string;
  sources: SourceHealth[];
  offline?: boolean;
  checkpoint_id?: string | null;
  checkpoint_kind?: string | null;
  checkpoint?: CheckpointReply | null;
  paper_count?: number | null;
  error?: string | null;
  already_decided?: EarlierDecision | null;
}

/** The queries, sources and limits of one round. */
export interface SearchStrategy {
  queries: SearchQuery[];
  sources: string[];
  filters?: SearchConstraints;
  notes?: string[];
  origins?: PartOrigin[];
}

/** One search in a list. */
export interface SearchSummary {
  session_id: string;
  query: string;
  phase: "waiting" | "working" | "completed" | "failed" | "unreadable";
  created_at?: string | null;
  last_used_at: string;
  checkpoint_kind?: string | null;
  checkpoint_id?: string | null;
  round?: number;
  paper_count?: number | null;
  sources?: SourceHealth[];
  offline?: boolean;
  error?: string | null;
}

/** A session reached another phase. `subject` is the id of the session. */
export interface SessionChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "session";
  phase?: string | null;
  round?: number | null;
  checkpoint_id?: string | null;
}

/** A build of a shelf from papers of a search progressed or ended. `subject` is the id of the session. */
export interface ShelfBuildChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "shelf_build";
  state?: string | null;
  shelf?: string | null;
  phase?: string | null;
  done?: number | null;
  total?: number | null;
  papers?: number | null;
  added?: number | null;
  error?: string | null;
  hint?: string | null;
}

/** The last build of a shelf from the papers of a search. */
export interface ShelfBuildReply {
  session_id: string;
  state: "none" | "running" | "done" | "failed";
  shelf?: string | null;
  path?: string | null;
  phase?: string | null;
  done?: number;
  total?: number;
  papers?: number | null;
  added?: number | null;
  error?: string | null;
  hint?: string | null;
}

/** A shelf was built. `subject` is its path. */
export interface ShelfChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "shelf";
  build_id?: string | null;
  papers?: number | null;
}

/** A shelf that papers can be put on. */
export interface ShelfTarget {
  name: string;
  path: string;
  papers?: number | null;
}

/** The shelves that papers can be put on. */
export interface ShelfTargets {
  shelves: ShelfTarget[];
}

/** A source answered a search. `subject` is the id of the session. */
export interface SourceChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "source";
  name?: string | null;
  status?: string | null;
  returned?: number | null;
  reason?: string | null;
}

/** A source that a search can use. */
export interface SourceChoice {
  name: string;
  used: boolean;
  remark: string;
}

/** How a source answered last. */
export interface SourceHealth {
  name: string;
  status: "ok" | "empty" | "failed" | "rate_limited" | "skipped";
  returned?: number;
  partial?: boolean;
  reason?: string | null;
}

/** The sources of the present round, as far as they have answered. */
export interface SourceProgress {
  session_id: string;
  phase: string;
  round: number;
  sources_asked: number;
  sources: SourceReportReply[];
}

/** The report on one source in one round. */
export interface SourceReportReply {
  name: string;
  status: "ok" | "empty" | "failed" | "rate_limited" | "skipped";
  received?: number;
  returned?: number;
  removed?: Record<string, number>;
  found?: number | null;
  calls?: number;
  seconds?: number;
  reason?: string | null;
  retry_at?: string | null;
  partial?: boolean;
}

/** A run that has begun. */
export interface StartedRun {
  run_id: string;
  workflow: string;
  nodes: number;
}

/** A part that differs between two strategies; None on the side that does not have it. */
export interface StrategyChange {
  part: string;
  before: string | null;
  after: string | null;
}

/** The check of an edited strategy. */
export interface StrategyCheck {
  is_valid: boolean;
  problems: StrategyProblem[];
  queries: QueryView[];
  changes: StrategyChange[];
  edits: StrategyChange[];
}

/** The queries, sources and limits of a round. */
export interface StrategyFields {
  queries: SearchQueryReply[];
  sources: string[];
  filters: StrategyFilters;
  notes: string[];
  origins: PartOriginReply[];
}

/** The limits of a search. */
export interface StrategyFilters {
  year_from?: number | null;
  year_to?: number | null;
  language?: string | null;
  max_results: number;
}

/** A strategy that a search proposes. */
export interface StrategyPayload {
  query: string;
  question: string;
  intent: ParsedIntent;
  strategy: SearchStrategy;
  /** Whether texts and lists were cut. `GET /api/searches/{session_id}` has more. */
  shortened?: boolean;
}

/** A problem of a strategy as a whole. */
export interface StrategyProblem {
  message: string;
  hint: string | null;
}

/** A search asks whether its strategy is right. */
export interface StrategyQuestion {
  id: string;
  part: string;
  /** The id of the session, or of the approval. */
  subject: string;
  created_at: string;
  state: "pending" | "decided" | "withdrawn";
  decision?: DecisionTaken | null;
  /** The interface of the decision: `console`, `terminal`, `client` or `agent`. */
  door?: string | null;
  /** The name that the decider claimed. */
  decided_by?: string | null;
  decided_at?: string | null;
  kind: "strategy_confirmation";
  payload: StrategyPayload;
}

/** The strategy that waits, or the one used last. */
export interface StrategyReply {
  session_id: string;
  question: string;
  phase: string;
  round: number;
  rounds_left: number;
  is_pending: boolean;
  checkpoint_id: string | null;
  asked_at: string | null;
  offline: boolean;
  strategy: StrategyFields | null;
  intent: Record<string, unknown> | null;
  queries: QueryView[];
  sources: StrategySource[];
  inherited: PartOriginReply[];
  changes: StrategyChange[];
  has_last_round: boolean;
}

/** A source, whether it is chosen, and how it answered last. */
export interface StrategySource {
  name: string;
  is_chosen: boolean;
  is_available: boolean;
  remark: string;
  needs_key: boolean;
  accepts_key: boolean;
  has_key: boolean;
  key_variable: string;
  last: SourceReportReply | null;
}

/** A page of questions in short. */
export interface SummaryPage {
  entries: QuestionSummary[];
  /** The value of `before` for the next page. */
  next: string | null;
  /** How many questions of each part wait. */
  pending: Record<string, number>;
}

/** A keyword and its synonyms. */
export interface SynonymMap {
  keyword: string;
  synonyms: string[];
}

/** A parameter of a node that uses a variable. */
export interface TemplateUse {
  node?: string | null;
  param?: string | null;
}

/** A variable that a workflow needs from outside. */
export interface TemplateVariable {
  name: string;
  declared: boolean;
  required: boolean;
  used_in?: TemplateUse[];
  default?: unknown;
}

/** A part of a foreign text: plain text, a formula, or marked-up text with children. */
export interface TextNodeReply {
  kind: "text" | "math" | "sub" | "sup" | "italic" | "bold";
  text: string;
  matched?: boolean | null;
  latex?: string | null;
  block?: boolean | null;
  children?: TextNodeReply[] | null;
}

/** A query in the syntax of one source. */
export interface Translation {
  source: string;
  text: string | null;
  address: string | null;
  notes: string[];
  problem: string | null;
}

/** The marks of the papers that the undone change had changed; None for a paper without a mark. */
export interface UndoneMarks {
  undone: Record<string, PaperDecision | null>;
}

/** A universe was created, changed, renamed or deleted. `subject` is its id. */
export interface UniverseChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "universe";
  version?: number | null;
  name?: string | null;
  created?: boolean | null;
  deleted?: boolean | null;
}

/** A workflow: its inputs, outputs, nodes, edges, statistics and problems. */
export interface WorkflowDescription {
  name: string;
  description: string;
  source: string;
  path: string;
  inputs: Record<string, InputDeclaration>;
  outputs: Record<string, OutputDeclaration>;
  template_variables: TemplateVariable[];
  nodes: WorkflowNode[];
  nodes_total: number;
  edges: WorkflowEdge[];
  edges_total: number;
  /** Whether lists or texts were cut. */
  truncated: boolean;
  /** The graph as a Mermaid diagram, or an empty text for a large graph. */
  graph: string;
  example: Record<string, unknown>;
  statistics: WorkflowStatistics;
  last_failure: Record<string, unknown> | null;
  diagnostics: Diagnostic[];
  warnings: string[];
}

/** An edge of a workflow: after `from`, if it ends with `action`, comes `to`. */
export interface WorkflowEdge {
  from: string;
  to: string;
  action: string;
}

/** The saved workflows and the drafts. */
export interface WorkflowList {
  workflows: SavedWorkflow[];
  drafts: DraftSummary[];
}

/** A node of a workflow. */
export interface WorkflowNode {
  id: string;
  type: string;
  purpose?: string | null;
  is_batch?: boolean;
}

/** How often a workflow ran, and how its runs ended. */
export interface WorkflowStatistics {
  execution_count: number;
  success_count?: number;
  failure_count?: number;
  last_execution_timestamp?: string | null;
  last_execution_success?: boolean | null;
  last_duration_ms?: number | null;
  average_duration_ms?: number | null;
  last_error?: unknown;
  last_failed_node?: string | null;
  other_endings?: Record<string, number>;
}

/** The text of a workflow. */
export interface WorkflowText {
  name: string;
  document: Record<string, unknown>;
}

/** The findings about a draft that was written. */
export interface WrittenDraft {
  name: string;
  diagnostics: Diagnostic[];
}

/** Counts of years and venues, and frequent authors and themes. */
export interface uraniborg__console__inbox_replies__PaperFacets {
  by_year: Record<string, number>;
  by_venue: Record<string, number>;
  top_authors: string[];
  key_themes: string[];
}

/** What papers can be filtered by. */
export interface uraniborg__console__search_replies__PaperFacets {
  sources: Record<string, number>;
  rounds: Record<string, number>;
  year_min: number | null;
  year_max: number | null;
}

/** Every operation, by method and path. */
export interface Operations {
  /** Read a draft. */
  "GET /api/drafts/{name}": {
    id: "read_draft";
    path: {
      /** The name of a workflow. */
      name: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WorkflowText;
  };
  /** Write a draft. */
  "PUT /api/drafts/{name}": {
    id: "write_draft";
    path: {
      /** The name of a workflow. */
      name: string;
    };
    query: Record<never, never>;
    body: Body_write_draft;
    reply: WrittenDraft;
  };
  /** Save a draft to the library. */
  "POST /api/drafts/{name}/save": {
    id: "save_draft";
    path: {
      /** The name of a workflow. */
      name: string;
    };
    query: Record<never, never>;
    body: Body_save_draft;
    reply: SavedDraft;
  };
  /** Stream every change. */
  "GET /api/events": {
    id: "stream_events";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: unknown;
  };
  /** Check that the server runs. */
  "GET /api/health": {
    id: "get_health";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: Health;
  };
  /** List questions. */
  "GET /api/inbox": {
    id: "list_inbox";
    path: Record<never, never>;
    query: {
      state?: "pending" | "decided" | "withdrawn" | null;
      part?: string | null;
      /** `next` of the page before. */
      before?: string | null;
      limit?: number;
    };
    body: undefined;
    reply: InboxPage;
  };
  /** List questions in short. */
  "GET /api/inbox/summaries": {
    id: "list_question_summaries";
    path: Record<never, never>;
    query: {
      state?: "pending" | "decided" | "withdrawn" | null;
      /** `next` of the page before. */
      before?: string | null;
      limit?: number;
    };
    body: undefined;
    reply: SummaryPage;
  };
  /** Return a question. */
  "GET /api/inbox/{entry_id}": {
    id: "get_question";
    path: {
      /** The id of a question. */
      entry_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: StrategyQuestion | ReviewQuestion | ApprovalQuestion;
  };
  /** Decide a question. */
  "POST /api/inbox/{entry_id}/decide": {
    id: "decide_question";
    path: {
      /** The id of a question. */
      entry_id: string;
    };
    query: Record<never, never>;
    body: Body_decide_question;
    reply: StrategyQuestion | ReviewQuestion | ApprovalQuestion;
  };
  /** Return your name. */
  "GET /api/me": {
    id: "get_me";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: PersonName;
  };
  /** List runs. */
  "GET /api/runs": {
    id: "list_runs";
    path: Record<never, never>;
    query: {
      workflow?: string | null;
      limit?: number;
    };
    body: undefined;
    reply: RunList;
  };
  /** Run a workflow. */
  "POST /api/runs": {
    id: "start_run";
    path: Record<never, never>;
    query: Record<never, never>;
    body: Body_start_run;
    reply: StartedRun | EndedRun;
  };
  /** Return a run with its nodes. */
  "GET /api/runs/{run_id}": {
    id: "get_run";
    path: {
      /** The id of a run, or its beginning. */
      run_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: RunDetails;
  };
  /** Cancel a run. */
  "POST /api/runs/{run_id}/cancel": {
    id: "cancel_run";
    path: {
      /** The id of a run, or its beginning. */
      run_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CancelledRun;
  };
  /** Return what a new search can choose. */
  "GET /api/search-options": {
    id: "get_search_options";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: SearchOptions;
  };
  /** List the shelves for papers. */
  "GET /api/search-shelves": {
    id: "list_shelves_for_papers";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: ShelfTargets;
  };
  /** List the sessions. */
  "GET /api/searches": {
    id: "list_searches";
    path: Record<never, never>;
    query: {
      phase?: "waiting" | "working" | "completed" | "failed" | "unreadable" | null;
      /** Words of the question, or the start of an id. */
      q?: string;
      offset?: number;
      limit?: number;
    };
    body: undefined;
    reply: SearchList;
  };
  /** Start a search. */
  "POST /api/searches": {
    id: "start_search";
    path: Record<never, never>;
    query: Record<never, never>;
    body: Body_start_search;
    reply: SearchState;
  };
  /** Return the state of a session. */
  "GET /api/searches/{session_id}": {
    id: "get_search";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: SearchState;
  };
  /** Delete a session. */
  "DELETE /api/searches/{session_id}": {
    id: "delete_search";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: undefined;
  };
  /** Decide the pending checkpoint. */
  "POST /api/searches/{session_id}/decide": {
    id: "decide_search";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: Body_decide_search;
    reply: SearchState;
  };
  /** List the excluded papers. */
  "GET /api/searches/{session_id}/exclusions": {
    id: "list_search_exclusions";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: {
      offset?: number;
      limit?: number;
    };
    body: undefined;
    reply: ExclusionList;
  };
  /** Export the papers. */
  "GET /api/searches/{session_id}/export": {
    id: "export_search";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: {
      format?: string;
      /** Only papers with this status. */
      status?: ReviewStatus | null;
    };
    body: undefined;
    reply: unknown;
  };
  /** Return the PRISMA flow. */
  "GET /api/searches/{session_id}/flow": {
    id: "get_search_flow";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: FlowReply;
  };
  /** Mark papers. */
  "PUT /api/searches/{session_id}/marks": {
    id: "mark_papers";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: Body_mark_papers;
    reply: MarksReply;
  };
  /** Undo your last change of marks. */
  "POST /api/searches/{session_id}/marks/undo": {
    id: "undo_marks";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: UndoneMarks;
  };
  /** List the papers of a session. */
  "GET /api/searches/{session_id}/papers": {
    id: "list_search_papers";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: {
      /** Words of title, abstract, authors or venue. */
      q?: string;
      status?: ReviewStatus | null;
      source?: string | null;
      year_from?: number | null;
      year_to?: number | null;
      score_from?: number | null;
      score_to?: number | null;
      /** The round, from 1. */
      round?: number | null;
      sort?: "rank" | "score" | "year" | "title" | "status";
      offset?: number;
      limit?: number;
    };
    body: undefined;
    reply: PaperList;
  };
  /** Return a paper of a session. */
  "GET /api/searches/{session_id}/papers/{paper_id}": {
    id: "get_search_paper";
    path: {
      /** The id of a session. */
      session_id: string;
      /** The id of a paper. */
      paper_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: PaperDetails;
  };
  /** List the reasons for exclusions. */
  "GET /api/searches/{session_id}/reasons": {
    id: "list_exclusion_reasons";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: ReasonList;
  };
  /** Resume a session. */
  "POST /api/searches/{session_id}/resume": {
    id: "resume_search";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: SearchState;
  };
  /** Return the last build of a shelf. */
  "GET /api/searches/{session_id}/shelf": {
    id: "get_shelf_build";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: ShelfBuildReply;
  };
  /** Put the papers on a shelf. */
  "POST /api/searches/{session_id}/shelf": {
    id: "put_papers_on_shelf";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: Body_put_papers_on_shelf;
    reply: ShelfBuildReply;
  };
  /** Return the progress of the sources. */
  "GET /api/searches/{session_id}/sources": {
    id: "get_search_sources";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: SourceProgress;
  };
  /** Return the strategy of a session. */
  "GET /api/searches/{session_id}/strategy": {
    id: "get_search_strategy";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: StrategyReply;
  };
  /** Check an edited strategy. */
  "POST /api/searches/{session_id}/strategy/check": {
    id: "check_search_strategy";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: Body_check_search_strategy;
    reply: StrategyCheck;
  };
  /** Continue a complete session with another round. */
  "POST /api/searches/{session_id}/update": {
    id: "update_search";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: Body_update_search | undefined;
    reply: SearchState;
  };
  /** Exchange the token for a cookie. */
  "POST /api/sign-in": {
    id: "sign_in";
    path: Record<never, never>;
    query: Record<never, never>;
    body: Body_sign_in;
    reply: PersonName;
  };
  /** Make the cookie invalid. */
  "POST /api/sign-out": {
    id: "sign_out";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: undefined;
  };
  /** List saved workflows and drafts. */
  "GET /api/workflows": {
    id: "list_workflows";
    path: Record<never, never>;
    query: {
      pattern?: string | null;
    };
    body: undefined;
    reply: WorkflowList;
  };
  /** Check the text of a workflow. */
  "POST /api/workflows/check": {
    id: "check_workflow";
    path: Record<never, never>;
    query: Record<never, never>;
    body: Body_check_workflow;
    reply: CheckReply;
  };
  /** Describe a workflow. */
  "GET /api/workflows/{name}": {
    id: "describe_workflow";
    path: {
      /** The name of a workflow. */
      name: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WorkflowDescription;
  };
  /** Say what a run would do. */
  "POST /api/workflows/{name}/plan": {
    id: "plan_run";
    path: {
      /** The name of a workflow. */
      name: string;
    };
    query: Record<never, never>;
    body: Body_plan_run | undefined;
    reply: PlanReply;
  };
}
