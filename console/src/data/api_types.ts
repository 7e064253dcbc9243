// Written by tools/write_console_types.py from the OpenAPI document of the API. Do not edit: run `make docs`.

/** A node that runs now, or has just ended; of a batch with the number of its items, and of those that ended. */
export interface ActiveNode {
  node: string;
  status: "running" | "completed" | "reused" | "failed" | "waiting" | "skipped" | "uncertain";
  at: string;
  duration_ms?: number | null;
  items?: number;
  items_done?: number;
  /** The number of messages so far. */
  messages?: number;
}

/** Who changed something. `name` is the name that they claim; a credential has the name of its client. */
export interface Actor {
  kind: "person" | "agent" | "software";
  name: string;
  /** How it was established who they are. */
  authenticated: "sign_in" | "token" | "credential" | "terminal" | "dialog" | "account" | "none";
}

/** A schedule that was installed, with notes for the person. */
export interface AddedSchedule {
  name: string;
  at: string;
  as: string;
  notes: string[];
}

/** A client of agents, and which of our servers its file has. */
export interface AgentClient {
  client: string;
  title: string;
  installed: boolean;
  file: string;
  connected: string[];
  problem: string | null;
  /** A line that connects the client. */
  command: string;
  /** The text that the file of the client would get. */
  entry: string;
  reload_hint: string;
}

/** An MCP server of this installation as clients start or reach it. */
export interface AgentServer {
  name: string;
  transport: "stdio" | "http";
  /** The program with its arguments; for an address, the program that a person starts. */
  command: string[];
  url: string | null;
  /** A line that adds the server to Claude Code. */
  line: string;
}

/** The Laplace angles of a run, and their times in days. */
export interface AngleSeries {
  name: string;
  days: number[];
  angles: LaplaceAngle[];
}

/** The question of a workflow. */
export interface ApprovalPayload {
  question: string;
  details: JsonValue;
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
  decision?: DecisionTaken;
  /** The interface of the decision: `console`, `terminal`, `client` or `agent`. */
  door?: string;
  /** The name that the decider claimed. */
  decided_by?: string;
  /** Who decided. */
  actor?: Actor;
  decided_at?: string;
  kind: "approval";
  payload: ApprovalPayload;
}

/** The decision about the queries, and what the search found. */
export interface ApproveResult {
  /** The numbers of the struck queries, from 1. */
  struck: number[];
  approved: string[];
  reason: string;
  decision: string;
  checkpoint_id: string;
  sources: SearchedSource[];
  papers: FoundPaper[];
  server_pid: number;
}

/** The strategy that the agent proposes. */
export interface AskResult {
  agent: string;
  session_id: string;
  checkpoint_id: string;
  query: string;
  /** What each query sends. */
  queries: string[];
  strategy_queries: QueryFields[];
  sources: string[];
  state: "pending" | "decided" | "withdrawn";
  searched: string[];
  server_pid: number;
}

/** The first papers that a search found, in the inbox. `GET /api/searches/{session_id}/papers` lists all of them. */
export interface AskedReview {
  removed_by_automation?: RemovedByAutomation;
  /** Papers of unknown year that were kept although years are limited. */
  year_unknown_kept?: number;
  papers: PaperFields[];
  total_papers: number;
  shown: number;
  facets: FacetFields;
  accumulated_count: number;
  status_counts: Record<string, number>;
  /** Papers in and out of each stage. */
  stage_counts: Record<string, Record<string, number>>;
  suggestions: SuggestionFields[];
  strategy: PlanFields;
  all_queries?: string;
  /** Where the other papers are. */
  more?: string;
  query: string;
  question: string;
}

/** The mass of a body, its status, the row that states it, and who set it. */
export interface BodyMass {
  body: string;
  name: string;
  /** In solar masses. */
  mass: number;
  earth_masses: number;
  status: "cited" | "supported" | "unverified claim" | "computed" | "set" | "without source";
  reason: string;
  as_written: string;
  is_on_shelf: boolean;
  location: Location | null;
  source: MassSource | null;
  set_by: string;
}

/** A body of a universe, and its fields whose values come from a paper. */
export interface BodyUse {
  universe_id: string;
  universe: string;
  body: string;
  fields: string[];
}

export interface Body_add_schedule {
  /** Such as `mon 07:00`, `weekdays 18:30` or `hourly`. */
  at: string;
  inputs?: Record<string, JsonValue> | null;
  /** By default that of this system. */
  scheduler?: "systemd" | "cron" | "launchd" | null;
}

export interface Body_check_search_strategy {
  /** The data of an edit, as `decide` takes it. */
  data: Record<string, JsonValue>;
  /** The part that was changed last: the other one follows. */
  changed_part?: "blocks" | "queries" | null;
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
  data?: Record<string, JsonValue> | null;
  note?: string | null;
  checkpoint_id?: string | null;
  /** Reply after this time at the latest. */
  wait_s?: number | null;
}

export interface Body_mark_papers {
  decisions: Record<string, PaperDecision | null>;
}

export interface Body_plan_run {
  inputs?: Record<string, JsonValue> | null;
}

export interface Body_put_papers_on_shelf {
  /** A shelf of `/api/search-shelves`, or a new name. */
  name: string;
  statuses?: ReviewStatus[];
}

export interface Body_replace_workflow {
  document: Record<string, JsonValue>;
  /** Refuse to replace a text that has another revision. */
  revision?: string | null;
}

export interface Body_resume_run {
  /** Inputs to change; the others stay. */
  inputs?: Record<string, JsonValue> | null;
  /** Discard the results of earlier runs. */
  fresh?: boolean;
}

export interface Body_run_story_step {
  inputs?: Record<string, JsonValue> | null;
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
  inputs?: Record<string, JsonValue> | null;
  /** Discard the results of earlier runs. */
  fresh?: boolean;
}

export interface Body_start_search {
  query: string;
  /** As in the settings, if left out. */
  domain?: string | null;
  /** As in the settings, if left out. */
  max_results?: number | null;
  /** Only these sources. */
  sources?: string[] | null;
  /** A trial with the shipped recordings. */
  offline?: boolean | null;
}

export interface Body_update_search {
  /** What is missing. */
  note?: string | null;
  /** Feedback, as in a decision. */
  data?: Record<string, JsonValue> | null;
}

export interface Body_update_setting {
  /** The value; null removes the setting from the file. */
  value: unknown;
}

export interface Body_write_draft {
  document: Record<string, JsonValue>;
  /** Refuse to replace a text that has another revision. */
  revision?: string | null;
  /** Refuse a name that a workflow has, readable or not. */
  create?: boolean;
}

export interface Body_write_note {
  text: string;
  collections: string[];
  revision?: string | null;
}

/** The version that a branch is from, and the version of its universe after that. */
export interface BranchOrigin {
  universe_id: string;
  version: number;
  version_after: number;
}

/** A branch of the universe with another mass of the planet. */
export interface BranchResult {
  universe_id: string;
  version: number;
  from: BranchOrigin;
  factor: number;
  /** In Earth masses. */
  before: number;
  after: BodyMass;
  command: Record<string, JsonValue>;
}

/** The answer with a third mass, on another branch. */
export interface BreakResult {
  planet: string;
  factor: number;
  verdict: "yes" | "no" | "undecided";
  answer: string;
  comparison: string;
  runs: RunReference[];
  resonances: NamedResonance[];
  angles: AngleSeries[];
  errors_degrees: number[];
  trustworthy: boolean[];
  days: number[];
  verdicts: string[];
  left_out: string[];
  picture: string;
  branch: BranchResult;
}

/** The universe, and its masses. */
export interface BuildResult {
  universe_id: string;
  version: number;
  commands: number;
  bodies: number;
  masses: BodyMass[];
}

/** A tool of an MCP server was called. `subject` is the name of the server. */
export interface CallChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "call";
  tool?: string;
  duration_ms?: number;
  reply_bytes?: number;
  error?: string;
  client?: string;
  about?: string[];
  message?: string;
}

/** The last calls, the latest first. */
export interface CallList {
  calls: ToolCall[];
}

/** A run whose process was asked to cancel it. */
export interface CancelledRun {
  run_id: string;
  status: "cancelling";
}

/** The result of one check. */
export interface CheckFacts {
  topic: string;
  name: string;
  status: "ok" | "note" | "warning" | "failure";
  detail: string;
  hint?: string;
}

/** The results of all checks. */
export interface CheckList {
  ok: boolean;
  checks: CheckFacts[];
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

/** A citation in one format. */
export interface Citation {
  format: string;
  label: string;
  suffix: string;
  media_type: string;
  text: string;
}

/** The citation of a paper in every format. */
export interface CitationList {
  citations: Citation[];
}

/** Code in a line. */
export interface Code {
  type: "code";
  text: string;
}

/** Lines of code. */
export interface CodeBlock {
  offset: number;
  type: "code_block";
  language: string;
  text: string;
}

/** A collection of papers. */
export interface Collection {
  name: string;
  papers: number;
}

/** The answer to the question. */
export interface CompareResult {
  planet: string;
  factor: number;
  verdict: "yes" | "no" | "undecided";
  answer: string;
  comparison: string;
  runs: RunReference[];
  resonances: NamedResonance[];
  angles: AngleSeries[];
  errors_degrees: number[];
  trustworthy: boolean[];
  days: number[];
  verdicts: string[];
  left_out: string[];
  picture: string;
}

/** Types of nodes, and workflows, that match a query, the best first. */
export interface ComponentList {
  nodes: NodeType[];
  workflows?: WorkflowMatch[];
  /** The number of matches, with those that are left out. */
  total: number;
  truncated: boolean;
  hint?: string;
  /** Files of node types that cannot be read. */
  problems?: string[];
}

/** One concept of a question. A paper matches the block if it contains at least one of the variants. */
export interface ConceptBlock {
  name: string;
  variants: string[];
  active?: boolean;
  learned?: boolean;
  exact?: boolean;
  share?: number | null;
  word_shares?: Record<string, number>;
  reason?: string;
}

export interface ConceptFields {
  name: string;
  variants: string[];
  active: boolean;
  learned: boolean;
  exact: boolean;
  share?: number;
  word_shares: Record<string, number>;
  reason: string;
}

/** Everything that this installation is connected to. */
export interface ConnectionList {
  /** Whether searches replay recordings instead of asking sources. */
  offline: boolean;
  sources: PaperSource[];
  parts: PartAddress[];
  servers: AgentServer[];
  clients: AgentClient[];
  /** Why servers and clients cannot be listed. */
  problem?: string | null;
}

/** An edit: the text to write in place of the characters from `start` to before `end`. */
export interface Correction {
  start: number;
  end: number;
  text: string;
}

/** The merges and splits of a review: first those that wait for the decision. */
export interface CorrectionList {
  corrections: CorrectionReply[];
}

/** A merge or a split of a reviewer. */
export interface CorrectionReply {
  kind: "merge" | "split";
  /** The papers that are one paper, or the paper that is split. */
  papers: string[];
  /** The records that leave; empty if each record becomes a paper. */
  records: RecordName[];
  title: string;
  reviewer: string | null;
  /** Who made the change; null if that is not known. */
  actor: Actor | null;
  at: string | null;
  /** False while the change waits for the decision. */
  is_sent: boolean;
}

/** The decision about a question. */
export interface DecisionTaken {
  action: string;
  data?: JsonValue;
  note?: string;
  /** What reviewers had stored for the decision. */
  marks?: JsonValue;
}

/** A finding of the checker. */
export interface Diagnostic {
  severity: "error" | "warning";
  code: string;
  /** The position in the document, such as `nodes[0].params.url`. */
  path: string;
  message: string;
  node?: string;
  hint?: string;
  available?: string[];
  more_available?: number;
  /** The allowed value that is most similar to the one given. */
  nearest?: string;
  /** A piece of a workflow that would be right. */
  example?: JsonValue;
  /** The line in the file, if that is known. */
  line?: number;
  column?: number;
}

/** A draft. */
export interface DraftSummary {
  name: string;
  description: string;
  inputs: string[];
  updated_at: string;
  /** Who wrote the present text; None if that is not known, as after an editor. */
  actor: Actor | null;
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

export interface EarlierPaper {
  id: string;
  title: string;
  year: number | null;
  relevance_score: number;
  status: "include" | "exclude" | "maybe" | "undecided";
  found_in_round: number;
  year_unknown_kept?: boolean;
}

export interface EditorialNotice {
  status: string;
  source?: string;
  date?: string;
  notice_doi?: string;
  label?: string;
}

/** The reply of `execute`: a run that has ended, or that could not begin. */
export interface EndedRun {
  success: boolean;
  error: RunError | null;
  /** The nodes that a failed run completed. */
  checkpoint: ResumeState | null;
  reused_nodes: string[];
  run_id: string | null;
  duration_ms: number;
  warnings: string[];
  /** The id of the run whose results were reused. */
  resumed_from?: string;
  /** Why earlier results were not reused, by node. */
  not_reused?: Record<string, string>;
  /** The state of a dialog with the person that has no decision. */
  dialog?: Record<string, string>;
  /** To the console, if the run waits: inputs that must not be stored. */
  secret_inputs?: string[];
  /** The outputs; of a large one its size and its file. */
  outputs: Record<string, JsonValue>;
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

/** The arguments of an example call of `execute`; nothing for a workflow with errors. */
export interface ExampleCall {
  name?: string;
  inputs?: Record<string, JsonValue>;
}

/** A page of exclusions. */
export interface ExclusionList {
  exclusions: ExclusionReply[];
  total: number;
  offset: number;
  limit: number;
  next_offset: number | null;
}

/** Why a paper is not in the result. */
export interface ExclusionOfPaper {
  reason: string;
  score: number | null;
  threshold: number | null;
}

/** Why a record or a paper is not in the result. The first group applies before screening, the second after. */
export type ExclusionReason = "year" | "language" | "excluded_words" | "no_title" | "other_work" | "over_source_limit" | "duplicate" | "below_threshold" | "over_limit" | "by_person" | "by_agent" | "by_program" | "merged";

/** A screened paper that is not in the result. */
export interface ExclusionReply {
  paper_id: string;
  other_ids: string[];
  title: string;
  doi: string | null;
  round: number;
  reason: string;
  score: number | null;
  threshold: number | null;
  reviewer: string | null;
  at: string | null;
  detail: string | null;
  short_authors: string;
  year: number | null;
  venue: string | null;
  /** Your mark that is not sent yet, such as one that brings the paper back. */
  mark: "include" | "exclude" | "maybe" | "undecided" | null;
}

/** The bundle, as a folder and as a zip file. */
export interface ExportResult {
  folder: string;
  zip: string;
  bytes: number;
  files: ExportedFile[];
  digests: string;
  /** The command that checks the bundle. */
  check: string;
}

/** A file of the bundle. */
export interface ExportedFile {
  path: string;
  description: string;
  bytes: number;
}

export interface FacetFields {
  by_year: Record<string, number>;
  by_venue: Record<string, number>;
  top_authors: string[];
  key_themes: string[];
}

export interface FacetPage {
  category: string;
  result: FacetValue[];
  /** The number of different values. */
  total: number;
  /** How to find values that no offset reaches. */
  more?: string;
}

export interface FacetValue {
  value: string;
  paper_count: number;
}

/** The limits that feedback can drop, and the suggested terms that it can accept. */
export interface FeedbackChoices {
  limits: string[];
  suggestions: TermSuggestion[];
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
  /** The other sources that give the same value. */
  agreeing: string[];
  alternatives: FieldAlternative[];
}

/** A figure that is elsewhere. Nothing loads it. */
export interface FigureReference {
  type: "figure";
  alt: string;
  caption: (Text | MarkedText | Code | Math | Link | FigureReference | LineBreak)[];
  href: string | null;
  offset?: number;
}

/** A warning about a query. */
export interface FindingFields {
  /** The index of the query, from 0. */
  query: number;
  severity: string;
  start: number;
  end: number;
  message: string;
  hint: string;
  correction?: Record<string, number | string>;
}

/** The PRISMA flow with your marks. `counts` has the papers by your status. */
export interface FlowReply {
  identified: Record<string, number>;
  matches: Record<string, number>;
  removed: Record<string, number>;
  screened: number;
  excluded: Record<string, number>;
  included: number;
  question: string;
  date: string;
  software: string;
  actor?: Actor;
  domain: string;
  ended_by: string | null;
  partial: boolean;
  incomplete_because: string;
  judged_by_person: number;
  judged_by_agent: number;
  judged_by_program: number;
  judged_by_software: number;
  removed_by_automation: number;
  unknown_years_kept: number;
  included_by_agent: Record<string, number>;
  included_by_program: Record<string, number>;
  notes: string[];
  round_count: number;
  labels: Record<string, string>;
  reasons: Record<string, number>;
  counts: Record<string, number>;
  is_complete: boolean;
}

/** A paper that the search found, with the suggested verdict. */
export interface FoundPaper {
  id: string;
  title: string;
  /** The first three. */
  authors: string[];
  more_authors: number;
  year: number | null;
  doi: string | null;
  abstract: string | null;
  score: number;
  proposed: ProposedMark;
}

/** The ids of papers. */
export interface FoundPapers {
  paper_ids: string[];
}

/** The run that was resumed with the mass that the person gave. */
export interface GiveResult {
  run: RunEnding;
  given: number;
  paper: StoredMetadata | null;
  masses: ReadMass[];
}

/** A heading. */
export interface Heading {
  offset: number;
  type: "heading";
  level: number;
  children: (Text | MarkedText | Code | Math | Link | FigureReference | LineBreak)[];
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
  state?: "pending" | "decided" | "withdrawn" | "deleted";
  part?: string;
  /** The id of the session, or of the approval. */
  about?: string;
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
  description: string;
  default?: JsonValue;
  secret?: boolean;
}

/** A settings file, or the file of a client of agents, was written or deleted. `subject` is its path. */
export interface InstallationChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "installation";
}

/** A workflow that the system runs at fixed times. */
export interface InstalledSchedule {
  name: string;
  at: string;
  /** systemd, cron or launchd. */
  as: string;
  path: string | null;
  /** Who added the schedule; None if that is not known. */
  actor: Actor | null;
}

/** The runs of both universes. */
export interface IntegrateResult {
  years: number;
  days: number[];
  runs: RunReference[];
}

/** The question as the search reads it. */
export interface IntentFields {
  topic: string;
  concepts: string[];
  intent_type: string;
  constraints: LimitFields;
  phrases: string[];
  authors: string[];
  venues: string[];
  excluded: string[];
  preferences: string[];
  typed_query: string;
  notes: string[];
  shortened?: boolean;
}

/** The kind of papers that a query asks for. */
export type IntentType = "survey" | "method" | "dataset" | "baseline";

export interface InterpretedQuery {
  terms: string[];
  filters: Record<string, string[]>;
  phrases?: string[];
  prefixes?: string[];
  required?: string[];
  excluded?: string[];
  sort?: string;
  dropped?: string[];
  /** Notes on words that were not searched. */
  ignored: string[];
}

/** A job of a universe began, progressed, ended or was deleted. `subject` is its id. */
export interface JobChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "nbody-job";
  universeId?: string;
  version?: number;
  /** The kind of the job. */
  job?: "nbody" | "transits" | "rv";
  state?: "queued" | "running" | "done" | "failed" | "cancelled";
  progress?: number;
  deleted?: boolean;
}

export type JsonValue = unknown;

/** The verdict on a paper, with its last reason and who judged. */
export interface JudgedPaper {
  id: string;
  title: string;
  year: number | null;
  doi: string | null;
  status: "include" | "exclude" | "maybe" | "undecided";
  reason: string | null;
  reviewer?: string | null;
  /** Missing in stories of earlier versions. */
  judge?: "person" | "agent" | "program" | null;
}

/** A Laplace angle over time. */
export interface LaplaceAngle {
  bodies: string[];
  names: string[];
  formula: string;
  degrees: number[];
}

/** The last run of a workflow that failed. */
export interface LastFailure {
  id: string;
  started_at: string;
  failed_node: string | null;
  error: RunError | null;
  duration_ms: number | null;
}

/** The limits of a search; one that is not set is left out. */
export interface LimitFields {
  year_from?: number;
  year_to?: number;
  language?: string;
  max_results: number;
  min_relevance?: number;
}

/** The end of a line. */
export interface LineBreak {
  type: "break";
}

/** A link. `href` is an address of http, https or mailto. */
export interface Link {
  type: "link";
  href: string;
  children: (Text | MarkedText | Code | Math | Link | FigureReference | LineBreak)[];
}

/** A list; each item is a list of blocks. */
export interface ListBlock {
  offset: number;
  type: "list";
  ordered: boolean;
  start: number;
  items: ((Heading | Paragraph | ListBlock | Quote | Table | CodeBlock | MathBlock | Rule | FigureReference)[])[];
}

/** A location in a publication that states a value: a table row or a passage. */
export interface Location {
  section?: string | null;
  page?: string | number | null;
  table?: string | number | null;
  header?: (string | number | null)[] | null;
  row?: (string | number | null)[] | null;
  passage?: string | null;
  stated?: Stated | null;
}

/** A file or folder of this installation. */
export interface LocationFacts {
  origin: string;
  origin_kind: "environment" | "dotenv" | "file" | "default";
  origin_name?: string;
  origin_file?: string;
  path: string;
  exists: boolean;
  bytes: number;
}

/** The files and folders of this installation, by name. */
export interface LocationList {
  paths: Record<string, LocationFacts>;
}

/** Text with a mark. */
export interface MarkedText {
  type: "emphasis" | "strong" | "strikethrough" | "subscript" | "superscript";
  children: (Text | MarkedText | Code | Math | Link | FigureReference | LineBreak)[];
}

/** Your marks by paper id. */
export interface MarksReply {
  marks: Record<string, PaperDecision>;
}

/** The publication of a mass. */
export interface MassSource {
  id: string | null;
  title: string | null;
  doi: string | null;
  year: number | null;
}

/** A formula in TeX. */
export interface Math {
  type: "math";
  tex: string;
  display: boolean;
}

/** A formula in TeX on lines of its own. */
export interface MathBlock {
  offset: number;
  type: "math_block";
  tex: string;
}

/** A record that was merged into a paper, and why. */
export interface MergedRecord {
  source: string;
  record_id: string;
  reason: string;
  url: string | null;
}

/** An angle in two runs, with the short names of its bodies. */
export interface NamedResonance {
  bodies: string[];
  kind: string;
  ratio: string | null;
  angle: string;
  behaviour: (string | null)[];
  centre: (number | null)[];
  halfRange: (number | null)[];
  changed: boolean;
  names: string[];
}

/** What a source did. */
export interface NamedSourceSummary {
  name: string;
  status: "ok" | "empty" | "failed" | "rate_limited" | "skipped";
  returned: number;
  /** All matches by the source's own count; null if unknown. */
  matched: number | null;
  fetched: number;
  /** Why the source stopped; the most serious reason. */
  stopped: "complete" | "enough" | "source_limit" | "too_broad" | "deadline" | "failed" | "not_run" | "unknown" | null;
  /** What is missing, in words; null if nothing is. */
  short: string | null;
  partial: boolean;
  calls: number;
  seconds: number;
  reason: string | null;
  retry_at?: string;
  /** The name that people know, such as `Semantic Scholar`. */
  label: string;
}

/** A node of a run began or ended. `subject` is the id of the run. */
export interface NodeChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "node";
  node?: string;
  status?: "running" | "completed" | "reused" | "failed" | "waiting" | "skipped" | "uncertain";
  duration_ms?: number;
  /** The number of items of a batch. */
  items?: number;
  items_done?: number;
  /** The number of messages so far. */
  messages?: number;
}

/** A node in two runs. */
export interface NodeDifference {
  node: string;
  type: string;
  first: NodeEnding | null;
  second: NodeEnding | null;
  /** Whether the node did something else; durations and reuse do not count. */
  differs: boolean;
}

/** How a node ended in one run. */
export interface NodeEnding {
  status: "running" | "completed" | "reused" | "failed" | "waiting" | "skipped" | "uncertain";
  action: string | null;
  duration_ms: number | null;
}

/** The last messages of a node that runs. */
export interface NodeMessages {
  messages: string[];
}

/** How a node of a run ended. `seq` is its position in the order of the ends. */
export interface NodeResult {
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
  /** How many items of a batch failed, in the progress of a run. */
  failed_items?: number | null;
}

/** A type of nodes, with an example of its parameters. */
export interface NodeType {
  type: string;
  description: string;
  inputs: NodeTypeValue[];
  outputs: NodeTypeOutput[];
  actions: string[];
  effect: string;
  example: Record<string, JsonValue>;
  score?: number;
  /** The words of the query that the type contains. */
  matched?: string[];
}

/** An output of a type of nodes. Only types in full have descriptions and structures. */
export interface NodeTypeOutput {
  key: string;
  type: string;
  description?: string;
  /** The fields of an object, or of the items of a list. */
  structure?: NodeTypeOutput[];
}

/** A parameter of a type of nodes. Only types in full have descriptions. */
export interface NodeTypeValue {
  key: string;
  type: string;
  required: boolean;
  default: JsonValue;
  description?: string;
  /** The allowed values, if they are bounded. */
  choices?: JsonValue[];
}

/** A person changed the note on a paper. `subject` is the id of the paper, `shelf` the path of its shelf. */
export interface NoteChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "note";
  shelf?: string;
  by?: string;
}

/** The papers with notes, the last changed first, and all collections of the shelf. */
export interface NoteList {
  papers: NotedPaper[];
  total: number;
  collections: Collection[];
}

/** A paper with a note or in a collection. `title` is None if the shelf no longer has the paper. */
export interface NotedPaper {
  paper_id: string;
  text: string;
  collections: string[];
  by: string;
  at: string;
  /** Who wrote the note; absent in notes of earlier versions. */
  actor?: Actor;
  /** Differs if the note differs. Send it with a new note, so that a change of somebody else is not lost. */
  revision: string;
  title: string | null;
}

/** An editorial notice. */
export interface NoticeReply {
  status: string;
  source: string;
  date: string | null;
  notice_doi: string | null;
  label: string | null;
}

export interface OriginFields {
  part: string;
  value: string;
  inherited: boolean;
  reason: string;
  by_person: boolean;
}

export interface OutlineHeading {
  level: number;
  title: string;
  /** The position of the section, for get_paper_source. */
  offset: number;
}

/** An output that a workflow declares. */
export interface OutputDeclaration {
  type: string;
  description: string;
  source: string;
}

/** The status that a reviewer gives a paper. A string with the status is accepted too. */
export interface PaperDecision {
  status: ReviewStatus;
  reason?: string | null;
}

/** A paper in full. */
export interface PaperDetails {
  status: "include" | "exclude" | "maybe" | "undecided";
  reason: string | null;
  is_marked: boolean;
  others: ReviewDecisionReply[];
  others_hidden: number;
  differs: boolean;
  rank: number;
  id: string;
  title: string;
  authors: string[];
  author_count: number;
  /** The family names in short, such as `Gillon and Luger` or `Gillon et al.` */
  short_authors: string;
  year: number | null;
  /** Whether the paper has no year and was kept although years are limited. */
  year_unknown_kept: boolean;
  venue: string | null;
  doi: string | null;
  citation_key: string | null;
  relevance_score: number;
  sources: string[];
  retraction: RetractionReply | null;
  editorial_note: string | null;
  found_in_round: number;
  exclusion: ExclusionOfPaper | null;
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

/** A paper in short. */
export interface PaperFields {
  retraction?: RetractionReply;
  editorial_note?: string;
  id: string;
  title: string;
  authors: string[];
  more_authors: number;
  year: number | null;
  venue: string | null;
  doi: string | null;
  shelf_id?: string;
  shelf?: string;
  relevance_score: number;
  relevance_reason: string;
  sources: string[];
  status: "include" | "exclude" | "maybe" | "undecided";
  found_in_round: number;
  year_unknown_kept?: boolean;
}

/** What papers can be filtered by. */
export interface PaperFilters {
  sources: Record<string, number>;
  /** The names of these sources as people know them. */
  source_labels: Record<string, string>;
  rounds: Record<string, number>;
  year_min: number | null;
  year_max: number | null;
}

/** A paper of a search, with the passage that matches best. */
export interface PaperHit {
  paper_id: string;
  title: string;
  year: number | null;
  venue: string;
  /** The passage that matched, matches in bold. */
  snippet_markdown: string;
  /** The first authors; the metadata has all. */
  authors: string[];
  score: number;
  /** The fields of the paper that matched. */
  matched_fields: string[];
  /** The section of the match, for read_paper_section. */
  section: string | null;
  /** The position of the match, for get_paper_source. */
  offset: number | null;
  /** True if the paper was retracted; else absent. */
  retracted?: boolean;
  /** The passage; matched words are `strong`. */
  snippet: (Text | MarkedText | Code | Math | Link | FigureReference | LineBreak)[];
}

/** A page of papers, and counts of all papers. */
export interface PaperList {
  papers: PaperRow[];
  total: number;
  offset: number;
  limit: number;
  next_offset: number | null;
  counts: Record<string, number>;
  facets: PaperFilters;
  /** The papers that automation removed, by reason: `below_threshold` and `over_limit`. */
  removed: Record<string, number>;
  min_relevance: number | null;
  /** The papers of unknown year that were kept although years are limited. */
  unknown_years_kept: number;
  is_complete: boolean;
  /** The question of the search. */
  query: string;
  /** Whether the review of these papers waits. It does not while the plan of the next round waits. */
  can_mark: boolean;
  checkpoint_id: string | null;
}

/** Papers that a reviewer merges into the first one of them. A list of their ids is accepted too. */
export interface PaperMerge {
  papers: string[];
  reviewer?: string | null;
}

/** All metadata of a paper, its links and its shelf. */
export interface PaperMetadata {
  paper_id: string;
  title: string;
  authors: string[];
  year: number | null;
  month: number | null;
  venue: string;
  volume?: string;
  issue?: string;
  pages?: string;
  publisher?: string;
  abstract: string;
  identifiers: Record<string, string>;
  keywords: string[];
  tags: string[];
  institutions: string[];
  kind: string;
  language: string;
  preferred_summary_template: string;
  available_summary_templates: string[];
  /** Languages, for lang of get_paper_source. */
  translations: string[];
  translation_chars: Record<string, number>;
  has_source: boolean;
  source_chars: number;
  outline: OutlineHeading[];
  has_bibtex: boolean;
  /** Retractions, expressions of concern and corrections. */
  notices?: EditorialNotice[];
  /** Set if the paper was retracted: do not rely on it. */
  retraction?: EditorialNotice | null;
  title_is_derived?: boolean;
  work_type?: string;
  editors?: string[];
  sources?: JsonValue;
  records?: JsonValue;
  provenance?: JsonValue;
  citation_count?: JsonValue;
  relevance_score?: JsonValue;
  relevance_reason?: JsonValue;
  status?: JsonValue;
  decisions?: JsonValue;
  found_in_round?: JsonValue;
  other_ids?: JsonValue;
  citation_key?: string;
  links: PublicationLink[];
  /** Whether the shelf has the PDF of the paper. */
  has_original: boolean;
  /** The folder of the shelf, which is the subject of the event of a new build. */
  shelf_path: string;
}

/** The note on a paper, and the collections that the paper is in. Empty if nobody wrote one. */
export interface PaperNoteReply {
  paper_id: string;
  text: string;
  collections: string[];
  by: string;
  at: string;
  /** Who wrote the note; absent in notes of earlier versions. */
  actor?: Actor;
  /** Differs if the note differs. Send it with a new note, so that a change of somebody else is not lost. */
  revision: string;
}

/** A paper in a list. The decisions of others are hidden until you have decided. */
export interface PaperRow {
  status: "include" | "exclude" | "maybe" | "undecided";
  reason: string | null;
  is_marked: boolean;
  others: ReviewDecisionReply[];
  others_hidden: number;
  differs: boolean;
  rank: number;
  id: string;
  title: string;
  authors: string[];
  author_count: number;
  /** The family names in short, such as `Gillon and Luger` or `Gillon et al.` */
  short_authors: string;
  year: number | null;
  /** Whether the paper has no year and was kept although years are limited. */
  year_unknown_kept: boolean;
  venue: string | null;
  doi: string | null;
  citation_key: string | null;
  relevance_score: number;
  sources: string[];
  retraction: RetractionReply | null;
  editorial_note: string | null;
  found_in_round: number;
}

/** A page of search results, with each passage as a tree, too. */
export interface PaperSearchPage {
  total: number;
  limit: number;
  offset: number;
  /** The offset of the next page; null on the last. */
  next_offset: number | null;
  /** How to find results that no offset reaches. */
  more?: string;
  /** How the query was read. */
  interpreted_query: InterpretedQuery;
  did_you_mean?: string;
  suggestions?: string[];
  facets?: Record<string, FacetValue[]>;
  years?: YearCount[];
  results: PaperHit[];
}

/** A source of papers. Its key is never sent. */
export interface PaperSource {
  name: string;
  enabled: boolean;
  needs_key: boolean;
  has_key: boolean;
  /** The name of the source that people know. */
  label: string;
  key_variable: string;
}

/** A paper whose records are not one paper. The id of the paper is accepted too. */
export interface PaperSplit {
  paper: string;
  records?: RecordName[];
  reviewer?: string | null;
}

/** A summary, and its texts as trees. */
export interface PaperSummary {
  paper_id: string;
  template: string;
  summary: JsonValue;
  sections: SummarySection[];
}

/** Where a paper is used. */
export interface PaperUseList {
  bodies: BodyUse[];
  workflows: WorkflowUse[];
  /** False if there may be more bodies. */
  is_complete: boolean;
}

/** A person marked papers. `subject` is the id of the session. */
export interface PapersChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "papers";
  checkpoint_id?: string | null;
  marked?: number;
  reviewer?: string;
  /** The ids of up to 20 papers that were marked. */
  papers?: string[];
}

/** The papers of the earlier rounds: those of the result, and those excluded. */
export interface PapersSoFar {
  removed_by_automation?: RemovedByAutomation;
  /** Papers of unknown year that were kept although years are limited. */
  year_unknown_kept?: number;
  papers: EarlierPaper[];
  total_papers: number;
  excluded: EarlierPaper[];
  excluded_papers: number;
  status_counts: Record<string, number>;
  /** The address of the resource that lists all. */
  all: string;
  shortened?: boolean;
}

/** A paragraph. */
export interface Paragraph {
  offset: number;
  type: "paragraph";
  children: (Text | MarkedText | Code | Math | Link | FigureReference | LineBreak)[];
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
  typed_query?: string;
  notes?: string[];
}

/** A server of this process: its address, or why it does not run. */
export interface PartAddress {
  name: string;
  purpose: string;
  url: string;
  mcp: string | null;
  running: boolean;
  problem: string | null;
  hint: string | null;
  /** The path of its unix socket. */
  socket: string | null;
  /** Why a server that runs has no socket. */
  socket_problem: string | null;
  /** A line that connects an agent to its address. */
  command: string | null;
}

/** The origin of one part of a strategy: an earlier round, or this round and the reason. */
export interface PartOrigin {
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

/** The plan in the syntax of each database. */
export interface PlanCopies {
  copies: Translation[];
}

/** The concepts, queries, sources and limits of a round. */
export interface PlanFields {
  blocks: ConceptFields[];
  suggestions: SuggestionFields[];
  queries: QueryFields[];
  /** Empty for all sources. */
  sources: string[];
  filters: LimitFields;
  notes: string[];
  origins: OriginFields[];
  shortened?: boolean;
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
  params: Record<string, JsonValue>;
  /** What happens if the node is reached. `ask`: a person is asked, and the run stops until the decision. */
  will: "run" | "ask" | "reuse" | "fail" | "skip";
  /** The nodes that decide whether this one is reached; it certainly is if there are none. */
  decided_by: string[];
  /** The values that have to be known to be certain. */
  waits_for: string[];
  problem?: string;
  items?: number;
  items_reused?: number;
}

/** The verdict that a program suggests. */
export interface ProposedMark {
  status: "include" | "exclude";
  reason: string;
}

/** The records of a paper, and the origin of each field. */
export interface Provenance {
  records: MergedRecord[];
  fields: FieldOrigin[];
}

/** An address under which a paper was published. */
export interface PublicationLink {
  /** The name of the identifier, such as `doi`. */
  scheme: string;
  label: string;
  /** The identifier. */
  text: string;
  url: string;
}

/** A query of a plan; `all_queries` has the whole text of a shortened one. */
export interface QueryFields {
  keywords: string[];
  synonym_map: SynonymFields[];
  boolean_query: string;
  words: string;
  rung: number;
  blocks: string[];
}

/** A problem of a query. An error stops the search; a warning names a part that may not mean what it says. */
export interface QueryProblem {
  severity: "error" | "warning";
  start: number;
  end: number;
  message: string;
  hint: string;
  correction?: Correction | null;
}

/** What one source did with one query. */
export interface QueryReport {
  text: string;
  rung?: number;
  found?: number | null;
  fetched?: number;
  added?: number;
  stopped: StopReason;
  reason?: string | null;
  changes?: string[];
}

/** A query as one source receives it: a ranking source gets words, other sources Boolean text. */
export interface QueryTranslation {
  source: string;
  /** The name of the source that people know. */
  label: string;
  is_received: boolean;
  /** The exact text; null if the source does not receive the query. */
  text: string | null;
  address: string | null;
  /** What is lost, or applied after the papers arrive. */
  notes: string[];
  /** Why the source does not receive the query. */
  problem: string | null;
}

/** A query with its problems, and as the sources receive it. */
export interface QueryView {
  boolean_query: string;
  /** The words for ranking sources; empty if only Boolean sources receive the query. */
  words: string;
  rung: number;
  keywords: string[];
  read_as: string;
  problems: QueryProblem[];
  translations: QueryTranslation[];
}

/** The decision about the question that a run waits for. */
export interface QuestionAnswer {
  action: string;
  note: string | null;
  /** The interface of the decision: `console`, `terminal`, `client` or `agent`. */
  door: string | null;
  /** The name that the decider claimed. */
  decided_by: string | null;
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
  papers?: number;
  /** The workflow that waits for approval. */
  workflow?: string;
  action?: string;
  /** The beginning of the note of the decision. */
  note?: string | null;
  door?: string;
  decided_by?: string;
  actor?: Actor;
  decided_at?: string;
}

/** A page of questions in short. */
export interface QuestionSummaryPage {
  entries: QuestionSummary[];
  /** The value of `before` for the next page. */
  next: string | null;
  /** How many questions of each part wait. */
  pending: Record<string, number>;
}

/** A quotation. */
export interface Quote {
  offset: number;
  type: "quote";
  children: (Heading | Paragraph | ListBlock | Quote | Table | CodeBlock | MathBlock | Rule | FigureReference)[];
}

/** A mass that the workflow read, with the row that states it and the command that sets it. */
export interface ReadMass {
  node: string;
  body: string;
  command: Record<string, JsonValue>;
  stated: string;
  location: Location | null;
}

/** The run that stopped at a missing mass. */
export interface ReadResult {
  run: EndedRun;
  masses_read: string[];
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

/** The name of one record of one source, as a paper lists it. */
export interface RecordName {
  source: string;
  record_id: string;
}

/** How many papers automation removed, by reason, and where they are listed. */
export interface RemovedByAutomation {
  below_threshold?: number;
  over_limit?: number;
  min_relevance: number | null;
  list: string;
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
  /** Digests of completed nodes, if few. */
  node_hashes?: Record<string, string>;
  skipped_nodes?: string[];
  /** Nodes that were interrupted and may have had their effect. */
  uncertain_nodes?: string[];
  resumable: boolean;
}

/** A retraction. */
export interface RetractionReply {
  status: string;
  source: string;
  date: string | null;
  notice_doi: string | null;
}

/** The decision of one reviewer. */
export interface ReviewDecisionReply {
  status: "include" | "exclude" | "maybe" | "undecided";
  reason: string | null;
  reviewer: string;
  at: string | null;
  /** Whether an agent or another program decided. */
  by_agent: boolean;
  /** Who decided; null if that is not known. */
  actor: Actor | null;
}

/** A search asks which papers to keep. */
export interface ReviewQuestion {
  id: string;
  part: string;
  /** The id of the session, or of the approval. */
  subject: string;
  created_at: string;
  state: "pending" | "decided" | "withdrawn";
  decision?: DecisionTaken;
  /** The interface of the decision: `console`, `terminal`, `client` or `agent`. */
  door?: string;
  /** The name that the decider claimed. */
  decided_by?: string;
  /** Who decided. */
  actor?: Actor;
  decided_at?: string;
  kind: "result_review";
  payload: AskedReview;
}

/** The decision about the papers. */
export interface ReviewResult {
  decision: string;
  papers: JudgedPaper[];
}

/** The status of a paper in a review. */
export type ReviewStatus = "include" | "exclude" | "maybe" | "undecided";

/** A line between two parts of the text. */
export interface Rule {
  offset: number;
  type: "rule";
}

/** The questions that a run and the runs before it asked. */
export interface RunApprovals {
  entries: ApprovalQuestion[];
}

/** A run began or ended. `subject` is the id of the run. */
export interface RunChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "run";
  workflow?: string;
  status?: "running" | "success" | "failed" | "cancelled" | "waiting" | "interrupted";
}

/** The differences of two runs. */
export interface RunComparison {
  first: RunSummary;
  second: RunSummary;
  inputs: ValueDifference[];
  outputs: ValueDifference[];
  nodes: NodeDifference[];
}

/** A run with its nodes. */
export interface RunDetails {
  id: string;
  workflow: string;
  source: string;
  /** At the command line: the path of a workflow in a file. */
  file?: string;
  status: "running" | "success" | "failed" | "cancelled" | "waiting" | "interrupted";
  started_at: string;
  ended_at: string | null;
  duration_ms: number | null;
  failed_node: string | null;
  error: RunError | null;
  reused: number | null;
  resumed_from: string | null;
  /** The inputs, with secrets masked; of long inputs `characters` and `beginning`. */
  inputs: Record<string, JsonValue> | null;
  /** The outputs; instead of a large value its size in `bytes`. */
  outputs: Record<string, JsonValue> | null;
  warnings: string[];
  /** The interface and the name of who started the run; absent for a run of an earlier version or of a program. */
  starter?: RunStarter;
  /** Who started the run; None for a run of an earlier version. */
  actor: Actor | null;
  /** Who requested that the run is cancelled; absent if nobody did, and in lists. */
  cancelled_by?: Actor;
  /** Whose decision resumed the run; absent if nobody did, and in lists. */
  resumed_by?: Actor;
  /** In the console: the state of the question that the run waits for; None if the run does not wait, or the question was deleted. */
  question_state?: "pending" | "decided" | "withdrawn" | null;
  /** In the console: how the question that the run waits for was decided. */
  question_answer?: QuestionAnswer | null;
  nodes: RunNode[];
}

/** How a run ended, without its outputs. */
export interface RunEnding {
  success: boolean;
  error: RunError | null;
  /** The nodes that a failed run completed. */
  checkpoint: ResumeState | null;
  reused_nodes: string[];
  run_id: string | null;
  duration_ms: number;
  warnings: string[];
  /** The id of the run whose results were reused. */
  resumed_from?: string;
  /** Why earlier results were not reused, by node. */
  not_reused?: Record<string, string>;
  /** The state of a dialog with the person that has no decision. */
  dialog?: Record<string, string>;
  /** To the console, if the run waits: inputs that must not be stored. */
  secret_inputs?: string[];
}

/** Why a run or a node failed. */
export interface RunError {
  type?: string;
  code: string;
  message: string;
  hint?: string;
  node?: string | null;
  /** The id of the question that the run waits for. */
  approval_id?: string;
  /** The first findings of the checker. */
  diagnostics?: Record<string, JsonValue>[];
  more_diagnostics?: number;
}

/** The nodes and edges of a run. */
export interface RunGraph {
  nodes: WorkflowNode[];
  edges: WorkflowEdge[];
}

/** How an item of a batch ended. `item` is its index. */
export interface RunItem {
  item: number;
  status: "running" | "completed" | "reused" | "failed" | "waiting" | "skipped" | "uncertain";
  duration_ms: number | null;
  error: RunError | null;
  /** The item itself; instead of a large value its size in `bytes`. None if the batch is too large to store it. */
  value: JsonValue;
  /** The outputs. Secrets are masked; instead of large outputs their size in `bytes`. */
  outputs: JsonValue;
}

/** Items of a batch that have ended, in their order. */
export interface RunItemPage {
  items: RunItem[];
  /** The value of `after` for the next page. */
  next: number | null;
  /** The number of items with each status. */
  counts: Record<string, number>;
}

/** The last runs. */
export interface RunList {
  runs: RunSummary[];
  /** The value of `before` for the next page. */
  next: string | null;
}

/** A node of a run that has ended, with its values. */
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
  /** How many items of a batch failed, in the progress of a run. */
  failed_items?: number | null;
  /** The parameters as the workflow has them, with templates. Secrets are masked; large values are sizes. */
  params?: JsonValue;
  /** The outputs. Secrets are masked; large values are sizes in `bytes`. */
  outputs?: JsonValue;
  /** The values of the parameters, if they differ from `params`. Secrets are masked; large values are sizes. */
  inputs?: JsonValue;
  /** The last messages of the node. */
  messages?: string[];
}

/** A run, its graph, nodes that have ended, and nodes that run now. */
export interface RunProgress {
  run: RunSummary;
  graph: RunGraph | null;
  nodes: NodeResult[];
  /** The value of `after` for the next page of nodes. */
  next: number | null;
  /** Whether the graph is that of the workflow as it is now: the log has no graph of the run. */
  is_present_graph: boolean;
  active: ActiveNode[];
  /** Whether this server resumes the run as soon as the question is decided that the run waits for. */
  resumes_when_decided: boolean;
  /** The id of the run that has resumed this one. */
  resumed_as: string | null;
}

/** An N-body run: its universe and its job. */
export interface RunReference {
  universe_id: string;
  version: number;
  name: string;
  job_id: string;
  /** Whether the run was stored before. */
  is_reused: boolean;
}

/** Who started a run, as claimed: a person in the console or a terminal, a schedule, or the client of an agent. */
export interface RunStarter {
  door: "console" | "terminal" | "schedule" | "mcp";
  name: string;
}

/** A run in the log. */
export interface RunSummary {
  id: string;
  workflow: string;
  source: string;
  /** At the command line: the path of a workflow in a file. */
  file?: string;
  status: "running" | "success" | "failed" | "cancelled" | "waiting" | "interrupted";
  started_at: string;
  ended_at: string | null;
  duration_ms: number | null;
  failed_node: string | null;
  error: RunError | null;
  reused: number | null;
  resumed_from: string | null;
  /** The inputs, with secrets masked; of long inputs `characters` and `beginning`. */
  inputs: Record<string, JsonValue> | null;
  /** The outputs; instead of a large value its size in `bytes`. */
  outputs: Record<string, JsonValue> | null;
  warnings: string[];
  /** The interface and the name of who started the run; absent for a run of an earlier version or of a program. */
  starter?: RunStarter;
  /** Who started the run; None for a run of an earlier version. */
  actor: Actor | null;
  /** Who requested that the run is cancelled; absent if nobody did, and in lists. */
  cancelled_by?: Actor;
  /** Whose decision resumed the run; absent if nobody did, and in lists. */
  resumed_by?: Actor;
  /** In the console: the state of the question that the run waits for; None if the run does not wait, or the question was deleted. */
  question_state?: "pending" | "decided" | "withdrawn" | null;
  /** In the console: how the question that the run waits for was decided. */
  question_answer?: QuestionAnswer | null;
}

/** How many searches, runs and jobs of universes work now, at most 1,000 runs and jobs. `jobs` is null if the server of universes does not run. */
export interface RunningCounts {
  searches: number;
  runs: number;
  jobs: number | null;
}

/** A draft that was moved to the library. */
export interface SavedDraft {
  success: boolean;
  path: string;
  name: string;
  warnings: string[];
}

/** A workflow of the library. */
export interface SavedWorkflow {
  name: string;
  description: string;
  inputs: string[];
  updated_at: string;
  execution_count: number;
  /** Who saved or replaced the present text; None if that is not known. */
  actor?: Actor | null;
}

/** The schedules of this system, and the problem of a scheduler that cannot be read. */
export interface ScheduleList {
  schedules: InstalledSchedule[];
  problem: string | null;
}

/** The masses of all versions of the branch. */
export interface ScrubResult {
  universe_id: string;
  versions: VersionMass[];
  version_after: number;
}

/** The limits of a search. */
export interface SearchConstraints {
  year_from?: number | null;
  year_to?: number | null;
  language?: string | null;
  max_results?: number;
  min_relevance?: number | null;
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

/** One query of a plan. Boolean sources receive `boolean_query`, ranking sources `words`. If no query of a strategy has words, ranking sources receive the words of each boolean query. */
export interface SearchQuery {
  keywords: string[];
  synonym_map?: SynonymMap[];
  boolean_query: string;
  words?: string;
  rung?: number;
  blocks?: string[];
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
  /** The question to the person, or the state of the search. */
  summary: string;
  current_checkpoint_kind?: string;
  user_action_required?: boolean;
  result?: SessionOutcome;
  /** The dialog in which the client asks the person. */
  dialog?: Record<string, string>;
  sources: NamedSourceSummary[];
  offline: boolean;
  /** Who started the session; null if a version that did not store it started it. */
  actor: Actor | null;
  checkpoint_id: string | null;
  checkpoint_kind: string | null;
  checkpoint: CheckpointReply | null;
  paper_count: number | null;
  error: string | null;
  already_decided: EarlierDecision | null;
}

/** The queries, sources and limits of one round. */
export interface SearchStrategy {
  queries: SearchQuery[];
  sources: string[];
  filters?: SearchConstraints;
  notes?: string[];
  origins?: PartOrigin[];
  blocks?: ConceptBlock[];
  suggestions?: TermSuggestion[];
}

/** One search in a list. */
export interface SearchSummary {
  session_id: string;
  query: string;
  phase: "waiting" | "working" | "completed" | "failed" | "unreadable";
  created_at: string | null;
  last_used_at: string;
  checkpoint_kind: string | null;
  checkpoint_id: string | null;
  round: number;
  paper_count: number | null;
  sources: SourceHealth[];
  offline: boolean;
  /** Who started the session; null if a version that did not store it started it. */
  actor: Actor | null;
  error: string | null;
}

/** What a source did. */
export interface SearchedSource {
  name: string;
  status: "ok" | "empty" | "failed" | "rate_limited" | "skipped";
  returned: number;
  reason: string | null;
}

/** A session reached another phase. `subject` is the id of the session. */
export interface SessionChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "session";
  phase?: string;
  round?: number;
  checkpoint_id?: string | null;
  checkpoint_kind?: string | null;
}

export interface SessionOutcome {
  paper_count: number;
  summary: string;
  reason?: string;
}

/** A setting, its value with secrets masked, and the origin of the value. */
export interface SettingFacts {
  origin: string;
  origin_kind: "environment" | "dotenv" | "file" | "default";
  origin_name?: string;
  origin_file?: string;
  setting: string;
  value: JsonValue;
  changeable?: boolean;
}

/** All settings. */
export interface SettingList {
  settings: SettingFacts[];
}

/** A build of a shelf from papers of a search progressed or ended. `subject` is the id of the session. */
export interface ShelfBuildChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  phase?: string;
  done?: number;
  total?: number;
  papers?: number;
  added?: number;
  error?: string;
  hint?: string;
  kind: "shelf_build";
  state?: "none" | "running" | "done" | "failed";
  shelf?: string;
}

/** The last build of a shelf from the papers of a search. */
export interface ShelfBuildReply {
  session_id: string;
  state: "none" | "running" | "done" | "failed";
  /** Who started the build. */
  actor: Actor | null;
  shelf: string | null;
  path: string | null;
  phase: string | null;
  done: number;
  total: number;
  papers: number | null;
  added: number | null;
  error: string | null;
  hint: string | null;
}

/** A shelf was built. `subject` is its path. */
export interface ShelfChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "shelf";
  build_id?: string;
  papers?: number;
}

/** A shelf in numbers. */
export interface ShelfDetails {
  name: string;
  path: string;
  /** Whether servers and searches use the shelf. */
  is_served: boolean;
  is_sample: boolean;
  papers: number;
  built_at: string | null;
  /** Who built the shelf; None if that is not known. */
  built_by: Actor | null;
  /** Changes when the shelf is replaced. */
  build_id: string | null;
  problem: string | null;
  hint: string | null;
  years: YearBounds;
  with_source: number;
  with_original?: number;
  summaries: Record<string, number>;
  translations: Record<string, number>;
  /** The number of different authors, venues and so on. */
  values: Record<string, number>;
  missing: Record<string, number>;
}

/** The shelf of the settings, then those of the data folder. */
export interface ShelfList {
  shelves: ShelfSummary[];
  /** The command that builds a shelf from files, with the path of the program. */
  build_command: string;
}

/** A shelf, or the problem that prevents its use. */
export interface ShelfSummary {
  name: string;
  path: string;
  /** Whether servers and searches use the shelf. */
  is_served: boolean;
  is_sample: boolean;
  papers: number;
  built_at: string | null;
  /** Who built the shelf; None if that is not known. */
  built_by: Actor | null;
  /** Changes when the shelf is replaced. */
  build_id: string | null;
  problem: string | null;
  hint: string | null;
}

/** A shelf that papers can be put on. */
export interface ShelfTarget {
  name: string;
  path: string;
  papers: number;
}

/** The shelves that papers can be put on. */
export interface ShelfTargets {
  shelves: ShelfTarget[];
}

/** The shelf of the kept papers. */
export interface ShelveResult {
  papers: number;
  entries: number;
  merged: number;
  /** The names of the data sheets. */
  sheets: string[];
  texts: ShelvedText[];
}

/** A paper of the shelf that has a text. */
export interface ShelvedText {
  paper_id: string;
  title: string;
  authors: string[];
  year: number | null;
  source_chars: number;
}

/** The name of the person whose key a browser has; None if nobody is signed in. */
export interface SignInState {
  name: string | null;
  /** Whether the browser is to exchange its key for a new one. */
  is_renewal_due: boolean;
}

/** The key of a browser, which it sends as its bearer token. It is shown only once. */
export interface SignedIn {
  name: string;
  key: string;
  /** The time at which the key ends. */
  valid_until: string;
}

/** A source answered a search. `subject` is the id of the session. */
export interface SourceChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "source";
  name?: string;
  status?: "ok" | "empty" | "failed" | "rate_limited" | "skipped";
  returned?: number;
  reason?: string | null;
}

/** A source that a search can use. */
export interface SourceChoice {
  name: string;
  /** The name that people know, such as `Semantic Scholar`. */
  label: string;
  used: boolean;
  remark: string;
}

/** How a source answered last. */
export interface SourceHealth {
  name: string;
  /** The name that people know, such as `Semantic Scholar`. */
  label: string;
  status: "ok" | "empty" | "failed" | "rate_limited" | "skipped";
  returned: number;
  partial: boolean;
  reason: string | null;
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
  /** The name that people know, such as `Semantic Scholar`. */
  label: string;
  status: "ok" | "empty" | "failed" | "rate_limited" | "skipped";
  received: number;
  returned: number;
  removed: Record<string, number>;
  found: number | null;
  calls: number;
  seconds: number;
  reason: string | null;
  retry_at: string | null;
  partial: boolean;
  /** What the source did with each query, in the order of the plan. */
  queries: QueryReport[];
}

/** A run that has begun. */
export interface StartedRun {
  run_id: string;
  workflow: string;
  nodes: number;
}

/** A number as a publication states it. */
export interface Stated {
  value?: number | null;
  unit?: string | null;
  as_written?: string | null;
}

/** A fact about the result of a step. */
export interface StepFact {
  label: string;
  text: string;
}

/** A value that a person may give a step. */
export interface StepInput {
  name: string;
  type: "number" | "integer" | "object";
  description: string;
  /** The value that was given, or the default. */
  value: JsonValue;
  minimum: number | null;
  maximum: number | null;
}

/** A page of the console with what a step made. */
export interface StepLink {
  label: string;
  path: string;
}

/** Why a source stopped fetching the matches of a query. */
export type StopReason = "complete" | "enough" | "source_limit" | "too_broad" | "deadline" | "failed" | "not_run" | "unknown";

/** All metadata of a paper. Shelves of schema 1 have no citation key. */
export interface StoredMetadata {
  paper_id: string;
  title: string;
  authors: string[];
  year: number | null;
  month: number | null;
  venue: string;
  volume?: string;
  issue?: string;
  pages?: string;
  publisher?: string;
  abstract: string;
  identifiers: Record<string, string>;
  keywords: string[];
  tags: string[];
  institutions: string[];
  kind: string;
  language: string;
  preferred_summary_template: string;
  available_summary_templates: string[];
  /** Languages, for lang of get_paper_source. */
  translations: string[];
  translation_chars: Record<string, number>;
  has_source: boolean;
  source_chars: number;
  outline: OutlineHeading[];
  has_bibtex: boolean;
  /** Retractions, expressions of concern and corrections. */
  notices?: EditorialNotice[];
  /** Set if the paper was retracted: do not rely on it. */
  retraction?: EditorialNotice | null;
  title_is_derived?: boolean;
  work_type?: string;
  editors?: string[];
  sources?: JsonValue;
  records?: JsonValue;
  provenance?: JsonValue;
  citation_count?: JsonValue;
  relevance_score?: JsonValue;
  relevance_reason?: JsonValue;
  status?: JsonValue;
  decisions?: JsonValue;
  found_in_round?: JsonValue;
  other_ids?: JsonValue;
  citation_key?: string;
}

/** A step of the story began, progressed or ended, or the story was deleted. `subject` is the id of the step. */
export interface StoryChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "story";
  state?: "running" | "done" | "failed" | "deleted";
  progress?: number | null;
}

/** The error with which the last step ended. */
export interface StoryError {
  step: "ask" | "approve" | "review" | "shelve" | "read" | "give" | "build" | "branch" | "integrate" | "compare" | "break" | "scrub" | "export";
  code: string;
  message: string;
  hint: string;
}

/** The state of the story. */
export interface StoryState {
  question: string;
  home: string;
  /** True if the pages of this server show the data of the story, so that the links of the steps lead there. */
  has_pages: boolean;
  next: "ask" | "approve" | "review" | "shelve" | "read" | "give" | "build" | "branch" | "integrate" | "compare" | "break" | "scrub" | "export" | null;
  running: "ask" | "approve" | "review" | "shelve" | "read" | "give" | "build" | "branch" | "integrate" | "compare" | "break" | "scrub" | "export" | null;
  /** The step that a process ran which was killed; run the step again. */
  interrupted: "ask" | "approve" | "review" | "shelve" | "read" | "give" | "build" | "branch" | "integrate" | "compare" | "break" | "scrub" | "export" | null;
  /** From 0 to 1, while this server runs a step. */
  progress: number | null;
  is_complete: boolean;
  steps: StoryStep[];
  error: StoryError | null;
}

/** A step with its status and one sentence, which is computed from results. */
export interface StoryStep {
  id: "ask" | "approve" | "review" | "shelve" | "read" | "give" | "build" | "branch" | "integrate" | "compare" | "break" | "scrub" | "export";
  title: string;
  who: "agent" | "you" | "workflow" | "computer";
  /** The label of the button that runs the step. */
  action: string;
  status: "done" | "next" | "later";
  can_run: boolean;
  /** Empty for a step that is neither done nor next. */
  sentence: string;
  facts: StepFact[];
  /** Addresses below `/api/story/files/`. */
  pictures: string[];
  /** Pages of the server that serves the data folder of the story. */
  links: StepLink[];
  inputs: StepInput[];
  /** The name of the person who ran the step. */
  by: string | null;
  /** Who ran the step; None for a step of a release that did not record it. */
  actor?: Actor | null;
  ended_at: string | null;
}

/** A step with everything that it stored. */
export interface StoryStepWithResult {
  id: "ask" | "approve" | "review" | "shelve" | "read" | "give" | "build" | "branch" | "integrate" | "compare" | "break" | "scrub" | "export";
  title: string;
  who: "agent" | "you" | "workflow" | "computer";
  /** The label of the button that runs the step. */
  action: string;
  status: "done" | "next" | "later";
  can_run: boolean;
  /** Empty for a step that is neither done nor next. */
  sentence: string;
  facts: StepFact[];
  /** Addresses below `/api/story/files/`. */
  pictures: string[];
  /** Pages of the server that serves the data folder of the story. */
  links: StepLink[];
  inputs: StepInput[];
  /** The name of the person who ran the step. */
  by: string | null;
  /** Who ran the step; None for a step of a release that did not record it. */
  actor?: Actor | null;
  ended_at: string | null;
  result: AskResult | ApproveResult | ReviewResult | ShelveResult | ReadResult | GiveResult | BuildResult | BranchResult | IntegrateResult | BreakResult | CompareResult | ScrubResult | ExportResult | null;
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
  /** The edited strategy with its blocks and queries in step; invalid parts are as proposed. */
  strategy: SearchStrategy;
  queries: QueryView[];
  /** The two-letter code of the language of the strategy. */
  language_read_as: string | null;
  changes: StrategyChange[];
  edits: StrategyChange[];
}

/** A strategy that a search proposes. */
export interface StrategyPayload {
  findings?: FindingFields[];
  findings_in_all?: number;
  /** What sources change or lose of the queries. */
  changed_for_sources?: Record<string, string[]>;
  intent: IntentFields;
  strategy: PlanFields;
  shortened?: boolean;
  all_queries?: string;
  papers_so_far?: PapersSoFar;
  query: string;
  question: string;
  /** The names of sources as people know them. */
  source_labels: Record<string, string>;
}

/** A problem of a strategy. */
export interface StrategyProblem {
  /** The field: `queries`, `sources`, or a limit such as `filters.max_results`; null for the strategy as a whole. */
  path: string | null;
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
  decision?: DecisionTaken;
  /** The interface of the decision: `console`, `terminal`, `client` or `agent`. */
  door?: string;
  /** The name that the decider claimed. */
  decided_by?: string;
  /** Who decided. */
  actor?: Actor;
  decided_at?: string;
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
  strategy: SearchStrategy | null;
  intent: ParsedIntent | null;
  queries: QueryView[];
  sources: StrategySource[];
  inherited: PartOrigin[];
  changes: StrategyChange[];
  has_last_round: boolean;
  feedback: FeedbackChoices | null;
}

/** A source, whether it is chosen, and how it answered last. */
export interface StrategySource {
  name: string;
  /** The name that people know, such as `Semantic Scholar`. */
  label: string;
  is_chosen: boolean;
  is_available: boolean;
  remark: string;
  needs_key: boolean;
  accepts_key: boolean;
  has_key: boolean;
  key_variable: string;
  last: SourceReportReply | null;
}

export interface SuggestionFields {
  term: string;
  reason: string;
  block?: string | null;
}

/** A text of a summary. */
export interface SummarySection {
  name: string;
  nodes: (Heading | Paragraph | ListBlock | Quote | Table | CodeBlock | MathBlock | Rule | FigureReference)[];
}

export interface SynonymFields {
  keyword: string;
  synonyms: string[];
}

/** A keyword and its synonyms. */
export interface SynonymMap {
  keyword: string;
  synonyms: string[];
}

/** A table. */
export interface Table {
  offset: number;
  type: "table";
  align: ("left" | "center" | "right")[];
  header: ((Text | MarkedText | Code | Math | Link | FigureReference | LineBreak)[])[];
  rows: TableRow[];
}

/** A row of a table. */
export interface TableRow {
  offset: number;
  cells: ((Text | MarkedText | Code | Math | Link | FigureReference | LineBreak)[])[];
}

/** A parameter of a node, or an output of the workflow, that uses a variable. */
export interface TemplateUse {
  node?: string;
  param?: string;
  output?: string;
}

/** A variable that a workflow needs from outside. */
export interface TemplateVariable {
  name: string;
  declared: boolean;
  required: boolean;
  /** The parts of the variable that templates use. */
  paths: string[];
  used_in: TemplateUse[];
  default?: JsonValue;
}

/** A term that the results so far suggest, and the reason. It is used once a person accepts it. */
export interface TermSuggestion {
  term: string;
  reason: string;
  block?: string | null;
}

/** Plain text. */
export interface Text {
  type: "text";
  text: string;
}

/** A part of a foreign text: plain text, a formula, or marked-up text with children. */
export interface TextNodeReply {
  kind: "text" | "math" | "sub" | "sup" | "italic" | "bold";
  text: string;
  matched: boolean | null;
  latex: string | null;
  block: boolean | null;
  children: TextNodeReply[] | null;
}

/** A part of the text of a paper. */
export interface TextPage {
  offset: number;
  end: number;
  previous_offset: number | null;
  next_offset: number | null;
  total_chars: number;
  nodes: (Heading | Paragraph | ListBlock | Quote | Table | CodeBlock | MathBlock | Rule | FigureReference)[];
}

/** A call of a tool, without its arguments. `about` has the ids of universes, `message` the text of its error. */
export interface ToolCall {
  server: string;
  at: string;
  tool: string;
  duration_ms: number;
  reply_bytes: number;
  error: string | null;
  client: string | null;
  about: string[];
  message: string | null;
}

/** A query in the syntax of a database. */
export interface Translation {
  platform: string;
  label: string;
  text: string;
  changes: string[];
}

/** The marks of the papers that the undone change had changed; None for a paper without a mark. */
export interface UndoneMarks {
  undone: Record<string, PaperDecision | null>;
}

/** Who changed something. `name` is the name that they claim; a credential has the name of its client. */
export interface UniverseActor {
  kind: "person" | "agent" | "software";
  name: string;
  /** How it was established who they are. */
  authenticated: "sign_in" | "token" | "credential" | "terminal" | "dialog" | "account" | "none";
}

/** Add a group, or replace the group with this id. */
export interface UniverseAddGroup {
  type: "addGroup";
  id: string;
  payload: UniverseGroupPayload;
}

/** Add a protoplanetary disk, or replace the disk with its id. */
export interface UniverseAddProtoplanetaryDisk {
  type: "addProtoplanetaryDisk";
  disk: UniverseProtoplanetaryDisk;
}

/** Add a body, or replace the body with this id. */
export interface UniverseAddStar {
  type: "addStar";
  id: string;
  payload: UniverseStarPayload;
  /** Why the value is set; `universe cite` shows it. */
  reason?: string;
}

/** Add a system or a group to a group. */
export interface UniverseAddToGroup {
  type: "addToGroup";
  groupId: string;
  child: UniverseGroupChild;
}

export interface UniverseAsteroidBelt {
  id: string;
  name: string;
  parentId: string;
  innerRadius: number;
  outerRadius: number;
  thickness: number;
  eccentricity: number;
  /** In degrees. */
  inclination: number;
  asteroidCount: number;
  asteroidIds: string[];
  color?: string | null;
  beltType?: "main" | "kuiper" | null;
  regionLabel?: string | null;
  isIcy?: boolean | null;
  inclinationSigma?: number | null;
  radialRangeHint?: number[] | null;
  lodLevel?: string | number | null;
  visible?: boolean | null;
  seed?: string | number | null;
}

/** Make a body orbit another body. */
export interface UniverseAttachStar {
  type: "attachStar";
  childId: string;
  parentId: string;
}

export interface UniverseBlackHoleProperties {
  hasAccretionDisk: boolean;
  hasRelativisticJet: boolean;
  hasPhotonRing: boolean;
  /** From 0 to 1. */
  spin: number;
  shadowRadius: number;
  accretionInnerRadius: number;
  accretionOuterRadius: number;
  diskThickness: number;
  /** From 0 to 1. */
  diskBrightness: number;
  /** From 0 to 1. */
  diskOpacity: number;
  diskTemperature: number;
  /** From 0 to 1. */
  diskClumpiness: number;
  jetLength: number;
  /** In degrees. */
  jetOpeningAngle: number;
  /** From 0 to 1. */
  jetBrightness: number;
  /** From 0 to 1. */
  dopplerBeamingStrength: number;
  /** From 0 to 1. */
  lensingStrength: number;
  rotationSpeedMultiplier: number;
  seed: string | number;
  diskTurbulenceScale?: number | null;
  diskInnerColor?: string | null;
  diskOuterColor?: string | null;
  diskStreakiness?: number | null;
  jetBaseColor?: string | null;
  jetTipColor?: string | null;
  jetGradientPower?: number | null;
  photonRingMultiImageCount?: number | null;
  photonRingWidth?: number | null;
  diskTilt?: number | null;
  diskTiltAxisAngle?: number | null;
}

/** The error of a body: its distance, and its angle along the orbit. */
export interface UniverseBodyError {
  au: number | null;
  degrees: number | null;
}

/** The values of a body that have, or had, a source. */
export interface UniverseBodyOrigins {
  body: string;
  name: string;
  fields: Record<string, UniverseValueBrief>;
  sources: UniversePublication[];
}

/** The quantities of a body. */
export interface UniverseBodyQuantities {
  massIs?: string;
  radiusIs?: string;
  name: string;
  /** The id of the star that lights it. */
  star: string | null;
  semiMajorAxis: number | null;
  quantities: Record<string, UniverseQuantity>;
}

/** The mass, the position and the velocity of a body. */
export interface UniverseBodyState {
  mass: number;
  position: number[];
  velocity: number[];
}

/** The origin of a value of a body. */
export interface UniverseChain {
  field: string;
  value: UniverseJsonValue;
  unit: string;
  status: "cited" | "supported" | "unverified claim" | "computed" | "set" | "without source";
  mark: string;
  sources: UniverseValueSource[];
  command: UniverseSettingCommand | null;
  withdrawn?: UniverseJsonValue;
  computed?: UniverseComputation;
}

/** A universe was created, changed, renamed or deleted. `subject` is its id. */
export interface UniverseChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "universe";
  version?: number;
  name?: string;
  created?: boolean;
  deleted?: boolean;
}

/** The estimates of chaos of two runs. */
export interface UniverseChaosComparison {
  megno: (number | null)[];
  lyapunovDays: (number | null)[];
}

/** The estimate of chaos of a run. */
export interface UniverseChaosFacts {
  megno: number | null;
  lyapunovDays: number | null;
  meaning: string;
}

/** The bibliography of a universe. */
export interface UniverseCitations {
  sources: UniverseCitedSource[];
  bibtex: string;
}

/** A paper, and the fields that each body which cites it takes from it. */
export interface UniverseCitedSource {
  id: string;
  title?: string;
  authors?: string[];
  year?: number | null;
  venue?: string;
  doi?: string;
  arxiv?: string;
  url?: string;
  uses?: [string, string[]][];
}

/** The closest approach of two bodies. */
export interface UniverseClosestApproach {
  au: number;
  hillRadii: number | null;
  day: number | null;
}

/** A collision of two bodies, and which of them is left. */
export interface UniverseCollisionFacts {
  bodies: string[];
  day: number;
  au: number;
  speed: number;
  survivor: string | null;
}

export interface UniverseCometMeta {
  isPeriodic: boolean;
  perihelionDistance: number;
  aphelionDistance: number;
  hasTail: boolean;
  tailLengthBase: number;
  tailWidthBase: number;
  tailColor: string;
  /** From 0 to 1. */
  tailOpacityBase: number;
  activityFalloffDistance: number;
  lastPerihelionTime?: number | null;
  seed?: string | number | null;
}

export interface UniverseCommand {
  /** Which of the 25 commands. */
  type: "tick" | "addStar" | "updateStar" | "removeStar" | "attachStar" | "detachStar" | "addGroup" | "updateGroup" | "removeGroup" | "addToGroup" | "removeFromGroup" | "moveToGroup" | "setSmallBodyFields" | "updateSmallBodyField" | "removeSmallBodyField" | "setProtoplanetaryDisks" | "addProtoplanetaryDisk" | "updateProtoplanetaryDisk" | "removeProtoplanetaryDisk" | "setNebulae" | "updateNebula" | "removeNebula" | "updateRing" | "removeRing" | "replaceSnapshot";
}

/** Commands that belong together, each with its fields, an example and its refusals. */
export interface UniverseCommandCategory {
  name: string;
  slug: string;
  commands: UniverseCommandFacts[];
}

/** A command: its fields with their types in words, an example and its refusals. */
export interface UniverseCommandFacts {
  type: string;
  description: string;
  fields: Record<string, UniverseCommandField>;
  example: Record<string, UniverseJsonValue>;
  refusals: string[];
}

/** A field of a command or of an entity, with its type in words. */
export interface UniverseCommandField {
  type: string;
  required: boolean;
  description?: string;
  default?: UniverseJsonValue;
  minimum?: number;
  maximum?: number;
  fields?: Record<string, UniverseCommandField>;
}

/** All commands, or those of one category. */
export interface UniverseCommandList {
  categories: UniverseCommandCategory[];
}

/** The rule of a computed value, and the values that it is computed from. */
export interface UniverseComputation {
  how: string;
  from: UniverseChain[];
  masses: Record<string, UniverseValueBrief>;
}

/** The angular momentum deficit over its critical value. */
export interface UniverseDeficit {
  ratio: number;
  pairs: UniverseDeficitPair[];
  meaning: string;
}

/** Neighbours, and the deficit over the critical deficit of the two. */
export interface UniverseDeficitPair {
  inner: string;
  outer: string;
  ratio: number;
}

/** Make a body a root; its orbitalDistance becomes 0. */
export interface UniverseDetachStar {
  type: "detachStar";
  childId: string;
}

/** What differs between two versions of a universe, or between two universes. */
export interface UniverseDifferences {
  from: UniverseVersionFacts;
  to: UniverseVersionFacts;
  equal: boolean;
  time: (number | null)[];
  differences: Record<string, UniverseEntityDifferences>;
}

/** The change of a conserved quantity, relative to its value at the start. */
export interface UniverseDriftFacts {
  max: number;
  final: number;
}

/** A body that was ejected. */
export interface UniverseEjection {
  id: string;
  day: number;
  distance: number | null;
  speed: number | null;
}

/** An encounter of two bodies. */
export interface UniverseEncounterFacts {
  bodies: string[];
  day: number;
  au: number;
  hillRadii: number | null;
  radii: number | null;
}

/** Entities of one kind that differ; long lists are cut, and all are counted. */
export interface UniverseEntityDifferences {
  addedCount: number;
  removedCount: number;
  changedCount: number;
  added: string[];
  removed: string[];
  /** By id and field: the old and the new value. */
  changed: Record<string, Record<string, UniverseJsonValue[]>>;
}

/** The body of every failed request; further keys of `error` name the objects concerned. */
export interface UniverseErrorBody {
  error: UniverseErrorFacts;
}

/** The fields that every error has. */
export interface UniverseErrorFacts {
  code: string;
  message: string;
  hint: string;
}

/** A universe without its state. */
export interface UniverseFacts {
  id: string;
  name: string;
  version: number;
  createdAt: string;
  updatedAt: string;
  createdBy: UniverseActor | null;
  renamedBy: UniverseActor | null;
}

/** A page of universes; `next` is the cursor of the next page. */
export interface UniverseFactsList {
  universes: UniverseFacts[];
  next: string | null;
}

/** The paper of a formula, and the quantities that use it. */
export interface UniverseFormulaPaper {
  title: string;
  authors: string[];
  year: number;
  venue: string;
  doi?: string;
  arxiv?: string;
  id: string;
  fields: string[];
}

/** The frame and the units of the states of a run. */
export interface UniverseFrame {
  origin: string;
  axes: string;
  units: Record<string, string>;
}

/** Systems and groups that belong together. */
export interface UniverseGroup {
  name: string;
  children: UniverseGroupChild[];
  /** The group it is in; null for a root. */
  parentGroupId: string | null;
  color?: string | null;
  icon?: string | null;
  position?: UniversePosition | null;
  id: string;
}

export interface UniverseGroupChild {
  id: string;
  type: "system" | "group";
}

/** Any fields of a Group. */
export interface UniverseGroupPatch {
  name?: string;
  children?: UniverseGroupChild[];
  /** The group it is in; null for a root. */
  parentGroupId?: string | null;
  color?: string | null;
  icon?: string | null;
  position?: UniversePosition | null;
  id?: string;
}

/** A group without its `id`. */
export interface UniverseGroupPayload {
  name: string;
  children: UniverseGroupChild[];
  /** The group it is in; null for a root. */
  parentGroupId: string | null;
  color?: string | null;
  icon?: string | null;
  position?: UniversePosition | null;
}

export interface UniverseHTTPValidationError {
  detail?: UniverseValidationError[];
}

/** The health of the server. */
export interface UniverseHealth {
  ok: boolean;
  uptime: number;
  listeners: number;
}

/** A page of the log; `next` is the version after which the next page starts. */
export interface UniverseHistory {
  entries: UniverseLogEntry[];
  next: number | null;
}

/** The systems of a file, and everything that was left out or assumed. Long lists are cut. */
export interface UniverseImportFacts {
  format: string;
  systems: UniverseImportedSystemFacts[];
  skipped: UniverseSkippedRow[];
  /** The number of all skipped rows. */
  skippedCount: number;
  notes: string[];
}

/** The universes that were created, and the report of the import. */
export interface UniverseImportReply {
  universes: UniverseNewUniverse[];
  import: UniverseImportFacts;
}

/** A system of a table, with the numbers of its bodies and rows. */
export interface UniverseImportedSystemFacts {
  name: string;
  bodies: number;
  rows: number;
}

/** The chart of a result as numbers. The footer names the method and the error. */
export interface UniverseJobChart {
  title: string;
  subtitle: string;
  footer: string;
  panels: UniverseJobPanel[];
}

/** A curve or points of a chart; null is a gap. */
export interface UniverseJobCurve {
  name: string;
  isPoints: boolean;
  x: number[];
  y: (number | null)[];
}

/** The error with which a job ended. */
export interface UniverseJobError {
  code: string;
  message: string;
  hint: string;
}

/** A job of a universe at a version: its options, its state and, once it has ended, its summary or its error. */
export interface UniverseJobFacts {
  id: string;
  universeId: string;
  version: number;
  kind: "nbody" | "transits" | "rv";
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  progress: number;
  options: Record<string, UniverseJsonValue>;
  author: string;
  actor: UniverseActor | null;
  cancelledBy: UniverseActor | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  summary: UniverseJobSummary | null;
  error: UniverseJobError | null;
}

/** A page of jobs; `next` is the cursor of the next page. */
export interface UniverseJobList {
  jobs: UniverseJobFacts[];
  next: string | null;
}

/** A quantity over time. The title has its unit; `lines` are values that a line marks. */
export interface UniverseJobPanel {
  title: string;
  note: string;
  xLabel: string;
  isAngle: boolean;
  range: [number, number] | null;
  lines: number[];
  series: UniverseJobCurve[];
}

/** The start, the method, the error and the verdict of a result. */
export interface UniverseJobSummary {
  time: number;
  epochJulianDate: number | null;
  days: number;
  method: string;
  headline: string;
  errorDegrees?: number | null;
  trustworthy?: boolean;
  verdict?: string;
  errorSeconds?: number | null;
  errorMetresPerSecond?: number | null;
}

export type UniverseJsonValue = unknown;

/** The true orbit, with the parent in its focus. A body that has this moves by it and not by the simple rule. */
export interface UniverseKepler {
  semiMajorAxis?: number | null;
  q?: number | null;
  eccentricity?: number | null;
  inclination?: number | null;
  longitudeOfAscendingNode?: number | null;
  argumentOfPeriapsis?: number | null;
  meanAnomaly?: number | null;
  epoch?: number | null;
  period?: number | null;
  osculatingPeriod?: number | null;
  derived?: "semiMajorAxis" | "period" | null;
  units?: "scene" | "astronomical" | null;
}

export interface UniverseLagrangePointMeta {
  primaryId: string;
  secondaryId: string;
  pointIndex: number;
  stable: boolean;
  pairType: "starPlanet" | "planetMoon";
  label?: string | null;
}

/** A location in a publication that states a value: a table row or a passage. */
export interface UniverseLocation {
  section?: string | null;
  page?: string | number | null;
  table?: string | number | null;
  header?: (string | number | null)[] | null;
  row?: (string | number | null)[] | null;
  passage?: string | null;
  stated?: UniverseStated | null;
}

/** An entry of the log. A restored state is left out, and so is the content of a damaged entry. */
export interface UniverseLogEntry {
  version: number;
  kind: "command" | "restore";
  at: string;
  author: string | null;
  actor: UniverseActor | null;
  damaged?: boolean;
  /** True if it was sent together with the entry before. */
  together?: boolean;
  command?: Record<string, UniverseJsonValue>;
  events?: (Record<string, string | number | string[] | null>)[];
}

/** Move a system or a group into a group, or out of all groups. */
export interface UniverseMoveToGroup {
  type: "moveToGroup";
  childId: string;
  childType: "system" | "group";
  /** null removes it from all groups. */
  targetGroupId: string | null;
}

/** An N-body run, made twice to measure its error. */
export interface UniverseNbodyOptions {
  /** Use the universe as it was at this version. */
  version?: number | null;
  /** The job fails after this many seconds. */
  maxSeconds?: number;
  kind?: "nbody";
  /** Below 0: backwards. */
  days?: number;
  /** Ids or names. Default: all. */
  bodies?: string[] | null;
  method?: "gauss" | "heyoka" | "leapfrog" | "yoshida4" | "yoshida6";
  /** In days, for leapfrog and yoshida. */
  step?: number | null;
  relativity?: boolean;
  onCollision?: "stop" | "merge" | "ignore";
}

export interface UniverseNebulaRegion {
  id: string;
  name: string;
  position: UniversePosition;
  radius: number;
  /** From 0 to 1. */
  density: number;
  /** From 0 to 1. */
  brightness: number;
  baseColor: string;
  accentColor: string;
  noiseScale: number;
  noiseDetail: number;
  seed: string | number;
  dimensions?: UniversePosition | null;
  associatedGroupIds?: string[] | null;
  visible?: boolean | null;
}

/** Any fields of a NebulaRegion. */
export interface UniverseNebulaRegionPatch {
  id?: string;
  name?: string;
  position?: UniversePosition;
  radius?: number;
  /** From 0 to 1. */
  density?: number;
  /** From 0 to 1. */
  brightness?: number;
  baseColor?: string;
  accentColor?: string;
  noiseScale?: number;
  noiseDetail?: number;
  seed?: string | number;
  dimensions?: UniversePosition | null;
  associatedGroupIds?: string[] | null;
  visible?: boolean | null;
}

/** A universe that was created, with the number of its bodies. */
export interface UniverseNewUniverse {
  id: string;
  name: string;
  version: number;
  createdAt: string;
  updatedAt: string;
  createdBy: UniverseActor | null;
  renamedBy: UniverseActor | null;
  bodies: number;
}

/** The orbit of a body in two runs. */
export interface UniverseOrbitComparison {
  meanPeriod: (number | null)[];
  eccentricityMax: (number | null)[];
  semiMajorAxisMean: (number | null)[];
}

/** Two bodies that orbit the same body. */
export interface UniverseOrbitPair {
  inner: string;
  outer: string;
  periodRatio: number | null;
  closest: UniverseClosestApproach | null;
}

/** The ranges of the elements of an orbit during a run. */
export interface UniverseOrbitRanges {
  semiMajorAxis: UniverseRange | null;
  eccentricity: UniverseRange | null;
  inclination: UniverseRange | null;
  meanPeriod: number | null;
}

/** What a universe can be created from: `seed:PRESET:SEED` takes the settings of the schema. */
export interface UniverseOriginList {
  systems: UniverseSystem[];
  presets: string[];
  settings: Record<string, UniverseJsonValue>;
}

/** Two bodies in two runs. */
export interface UniversePairComparison {
  inner: string;
  outer: string;
  periodRatio: (number | null)[];
  closestHillRadii: (number | null)[];
  closestAu: (number | null)[];
}

/** The physical quantities of a universe; without `bodies` only the habitable zones. */
export interface UniversePhysics {
  zones: Record<string, UniverseZone>;
  notes: string[];
  sources: UniverseFormulaPaper[];
  id: string;
  version: number;
  bodies?: Record<string, UniverseBodyQuantities>;
}

/** The period, the mass times sin i, the eccentricity and the semi-amplitude of a body that orbits a star. */
export interface UniversePlanetSignal {
  name: string;
  period: number;
  eccentricity: number;
  inclination: number | null;
  massSinI: number;
  semiAmplitude: number;
}

/** The transits of a planet. */
export interface UniversePlanetTransits {
  status: string;
  conjunctions: number;
  impactParameter: number | null;
  durationMinutes: number | null;
  period: number | null;
  firstTransit: number | null;
  ttvHalfRangeMinutes: number | null;
  errorSeconds: number | null;
  transits: UniverseTransitFacts[];
  name: string;
  star: string;
  starName: string;
}

/** A ring around a body; its radii are multiples of the radius of the body. */
export interface UniversePlanetaryRing {
  innerRadiusMultiplier: number;
  outerRadiusMultiplier: number;
  thickness: number;
  /** From 0 to 1. */
  opacity: number;
  albedo: number;
  color: string;
  /** From 0 to 1. */
  density: number;
  warpFactor?: number | null;
  seed?: string | number | null;
}

/** Any fields of a PlanetaryRing. */
export interface UniversePlanetaryRingPatch {
  innerRadiusMultiplier?: number;
  outerRadiusMultiplier?: number;
  thickness?: number;
  /** From 0 to 1. */
  opacity?: number;
  albedo?: number;
  color?: string;
  /** From 0 to 1. */
  density?: number;
  warpFactor?: number | null;
  seed?: string | number | null;
}

export interface UniversePosition {
  x: number;
  y: number;
  z: number;
}

/** The positions of all bodies, in the order of `ids`; null for a body without a position. */
export interface UniversePositionList {
  version: number;
  time: number;
  ids: string[];
  positions: ((number | null)[])[];
}

export interface UniverseProtoplanetaryDisk {
  id: string;
  systemId: string;
  innerRadius: number;
  outerRadius: number;
  thickness: number;
  particleCount: number;
  baseColor: string;
  highlightColor: string;
  /** From 0 to 1. */
  opacity: number;
  brightness: number;
  clumpiness: number;
  rotationSpeedMultiplier: number;
  seed: string | number;
  name?: string | null;
  centralStarId: string;
  style: "thin" | "moderate" | "thick" | "extreme";
  bandStrength?: number | null;
  bandFrequency?: number | null;
  gapSharpness?: number | null;
  innerGlowStrength?: number | null;
  noiseScale?: number | null;
  noiseStrength?: number | null;
  spiralStrength?: number | null;
  spiralArmCount?: number | null;
  edgeSoftness?: number | null;
  temperatureGradient?: number | null;
}

/** Any fields of a ProtoplanetaryDisk. */
export interface UniverseProtoplanetaryDiskPatch {
  id?: string;
  systemId?: string;
  innerRadius?: number;
  outerRadius?: number;
  thickness?: number;
  particleCount?: number;
  baseColor?: string;
  highlightColor?: string;
  /** From 0 to 1. */
  opacity?: number;
  brightness?: number;
  clumpiness?: number;
  rotationSpeedMultiplier?: number;
  seed?: string | number;
  name?: string | null;
  centralStarId?: string;
  style?: "thin" | "moderate" | "thick" | "extreme";
  bandStrength?: number | null;
  bandFrequency?: number | null;
  gapSharpness?: number | null;
  innerGlowStrength?: number | null;
  noiseScale?: number | null;
  noiseStrength?: number | null;
  spiralStrength?: number | null;
  spiralArmCount?: number | null;
  edgeSoftness?: number | null;
  temperatureGradient?: number | null;
}

/** A publication that a body cites. */
export interface UniversePublication {
  id: string;
  title?: UniverseJsonValue;
  authors?: UniverseJsonValue;
  year?: UniverseJsonValue;
  venue?: UniverseJsonValue;
  doi?: UniverseJsonValue;
  arxiv?: UniverseJsonValue;
  url?: UniverseJsonValue;
  computed?: UniverseJsonValue;
  /** Its authors and year in short. */
  shortCitation: string;
}

/** A quantity, its formula and the paper that it is from; without a value, what is missing. */
export interface UniverseQuantity {
  value: number | string | null;
  unit: string;
  formula: string | null;
  paper: string | null;
  unknown?: string | null;
}

/** The least, the mean and the largest value. */
export interface UniverseRange {
  min: number;
  mean: number;
  max: number;
}

/** Remove a system or a group from a group. */
export interface UniverseRemoveFromGroup {
  type: "removeFromGroup";
  groupId: string;
  childId: string;
}

/** Remove a group; the groups in it move up to its parent, the systems in it stay ungrouped. */
export interface UniverseRemoveGroup {
  type: "removeGroup";
  id: string;
}

/** Remove a nebula, if it exists. */
export interface UniverseRemoveNebula {
  type: "removeNebula";
  id: string;
}

/** Remove a protoplanetary disk, if it exists. */
export interface UniverseRemoveProtoplanetaryDisk {
  type: "removeProtoplanetaryDisk";
  id: string;
}

/** Remove the ring of a body. */
export interface UniverseRemoveRing {
  type: "removeRing";
  planetId: string;
}

/** Remove a belt of particles, if it exists. */
export interface UniverseRemoveSmallBodyField {
  type: "removeSmallBodyField";
  id: string;
}

/** Remove a body and everything below it. */
export interface UniverseRemoveStar {
  type: "removeStar";
  id: string;
}

/** Replace the whole state except the time. */
export interface UniverseReplaceSnapshot {
  type: "replaceSnapshot";
  snapshot: UniverseSnapshot;
}

/** An angle in two runs; None in a run without it. */
export interface UniverseResonanceComparison {
  bodies: string[];
  kind: string;
  ratio: string | null;
  angle: string;
  behaviour: (string | null)[];
  centre: (number | null)[];
  halfRange: (number | null)[];
  changed: boolean;
}

/** A resonance, or a pair of bodies near one, with the behaviour of its angle. */
export interface UniverseResonanceFacts {
  behaviour: string;
  centre: number | null;
  halfRange: number | null;
  /** Why the behaviour is unclear. */
  reason?: string;
  bodies: string[];
  kind: string;
  ratio: string | null;
  angle: string;
  longitudes: number[];
  apsides: number[];
}

/** The result of a change, with the whole state if it was asked for. */
export interface UniverseResult {
  nextState?: Record<string, UniverseJsonValue>;
  events: (Record<string, string | number | string[] | null>)[];
  version: number;
  warnings?: string[];
}

export interface UniverseRoguePlanetMeta {
  seed: string | number;
  initialPosition: UniversePosition;
  velocity: UniversePosition;
  colorOverride?: string | null;
  pathCurvature?: number | null;
  semiMajorAxis?: number | null;
  eccentricity?: number | null;
  pathOffsetX?: number | null;
  pathOffsetY?: number | null;
  pathOffsetZ?: number | null;
  orbitRotX?: number | null;
  orbitRotY?: number | null;
  orbitRotZ?: number | null;
  pathPeriod?: number | null;
  showTrajectory?: boolean | null;
  trajectoryPastWindow?: number | null;
  trajectoryFutureWindow?: number | null;
}

/** The differences of two runs, and the names of the two. */
export interface UniverseRunComparison {
  labels: string[];
  differences: UniverseRunDifferences;
}

/** Two runs side by side. Each list of two has the value of the first run and that of the second. */
export interface UniverseRunDifferences {
  verdict: string;
  resonances: UniverseResonanceComparison[];
  orbits: Record<string, UniverseOrbitComparison>;
  pairs: UniversePairComparison[];
  ejections: string[][];
  chaos: UniverseChaosComparison;
}

/** Sentences about each of the three kinds of error. */
export interface UniverseRunErrors {
  arithmetic: string[];
  start: string[];
  physics: string[];
}

/** An N-body run of a universe. */
export interface UniverseRunReply {
  verdict: string;
  orbits: Record<string, UniverseOrbitRanges>;
  pairs: UniverseOrbitPair[];
  resonances: UniverseResonanceFacts[];
  ejections: UniverseEjection[];
  chaos: UniverseChaosFacts;
  amd: UniverseDeficit | null;
  id: string;
  version: number;
  time: number;
  epochJulianDate: number | null;
  days: number;
  daysAsked: number;
  stoppedBy: string | null;
  method: string;
  step: number;
  shortestStep: number;
  steps: number;
  relativity: boolean;
  frame: UniverseFrame;
  bodies: string[];
  start: Record<string, UniverseBodyState | null>;
  end: Record<string, UniverseBodyState | null>;
  error: Record<string, UniverseBodyError>;
  errors: UniverseRunErrors;
  trustworthy: boolean;
  energyDrift: UniverseDriftFacts | null;
  angularMomentumDrift: UniverseDriftFacts | null;
  encounters: UniverseEncounterFacts[];
  encounterCount: number;
  collisions: UniverseCollisionFacts[];
}

/** The command that set a value or withdrew its source. Written by the program. */
export interface UniverseSetBy {
  version?: number | null;
  by?: string | null;
  reason?: string | null;
  sources?: string[] | null;
  basis?: string | null;
  withdrawn?: string | null;
  universe?: string | null;
  imported?: boolean | null;
}

/** Replace all nebulae. */
export interface UniverseSetNebulae {
  type: "setNebulae";
  nebulae: Record<string, UniverseNebulaRegion>;
}

/** Replace all protoplanetary disks. */
export interface UniverseSetProtoplanetaryDisks {
  type: "setProtoplanetaryDisks";
  disks: Record<string, UniverseProtoplanetaryDisk>;
}

/** Replace all belts of particles. */
export interface UniverseSetSmallBodyFields {
  type: "setSmallBodyFields";
  fields: Record<string, UniverseSmallBodyField>;
}

/** The command that set a value, as far as it was recorded. */
export interface UniverseSettingCommand {
  version?: UniverseJsonValue;
  universe?: UniverseJsonValue;
  reason?: UniverseJsonValue;
  imported?: UniverseJsonValue;
  author: UniverseJsonValue;
  actor?: UniverseActor | null;
  at?: string;
  type?: string;
}

/** A row that was not imported, or a body without a row. */
export interface UniverseSkippedRow {
  row: number | null;
  name: string;
  reason: string;
}

/** A belt of particles around a body. */
export interface UniverseSmallBodyField {
  id: string;
  systemId: string;
  innerRadius: number;
  outerRadius: number;
  thickness: number;
  particleCount: number;
  baseColor: string;
  highlightColor: string;
  /** From 0 to 1. */
  opacity: number;
  brightness: number;
  clumpiness: number;
  rotationSpeedMultiplier: number;
  seed: string | number;
  name?: string | null;
  hostStarId: string;
  beltType: "main" | "kuiper";
  regionLabel: string;
  isIcy: boolean;
  style: "thin" | "moderate" | "thick" | "scattered";
  inclinationSigma?: number | null;
  visible?: boolean | null;
}

/** Any fields of a SmallBodyField. */
export interface UniverseSmallBodyFieldPatch {
  id?: string;
  systemId?: string;
  innerRadius?: number;
  outerRadius?: number;
  thickness?: number;
  particleCount?: number;
  baseColor?: string;
  highlightColor?: string;
  /** From 0 to 1. */
  opacity?: number;
  brightness?: number;
  clumpiness?: number;
  rotationSpeedMultiplier?: number;
  seed?: string | number;
  name?: string | null;
  hostStarId?: string;
  beltType?: "main" | "kuiper";
  regionLabel?: string;
  isIcy?: boolean;
  style?: "thin" | "moderate" | "thick" | "scattered";
  inclinationSigma?: number | null;
  visible?: boolean | null;
}

/** A state without its time, and with at least one key beside `stars` and `rootIds`. Further keys are dropped. */
export interface UniverseSnapshot {
  stars: Record<string, UniverseStar>;
  rootIds: string[];
  groups?: Record<string, UniverseGroup> | null;
  rootGroupIds?: string[] | null;
  belts?: Record<string, UniverseAsteroidBelt> | null;
  smallBodyFields?: Record<string, UniverseSmallBodyField> | null;
  protoplanetaryDisks?: Record<string, UniverseProtoplanetaryDisk> | null;
  nebulae?: Record<string, UniverseNebulaRegion> | null;
}

/** A publication, and which fields of the body came from it. */
export interface UniverseSource {
  id: string;
  title: string;
  authors?: string[] | null;
  year?: number | null;
  venue?: string | null;
  doi?: string | null;
  arxiv?: string | null;
  url?: string | null;
  fields?: string[] | null;
  locations?: Record<string, UniverseLocation> | null;
}

/** A body of any kind: star, planet, moon, asteroid, comet, Lagrange point or black hole. */
export interface UniverseStar {
  bodyType?: "star" | "planet" | "moon" | "asteroid" | "comet" | "lagrangePoint" | "blackHole" | null;
  ring?: UniversePlanetaryRing | null;
  comet?: UniverseCometMeta | null;
  lagrangePoint?: UniverseLagrangePointMeta | null;
  blackHole?: UniverseBlackHoleProperties | null;
  parentBeltId?: string | null;
  asteroidSubType?: "mainBelt" | "kuiperBelt" | "generic" | null;
  lagrangeHostId?: string | null;
  isRoguePlanet?: boolean | null;
  roguePlanet?: UniverseRoguePlanetMeta | null;
  semiMajorAxis?: number | null;
  eccentricity?: number | null;
  orbitOffsetX?: number | null;
  orbitOffsetY?: number | null;
  orbitOffsetZ?: number | null;
  orbitRotX?: number | null;
  orbitRotY?: number | null;
  orbitRotZ?: number | null;
  kepler?: UniverseKepler | null;
  stateVector?: UniverseStateVector | null;
  sources?: UniverseSource[] | null;
  setBy?: Record<string, UniverseSetBy> | null;
  id: string;
  name: string;
  mass: number;
  radius: number;
  color: string;
  children: string[];
  parentId: string | null;
  orbitalDistance: number;
  /** In degrees for each simulation second. */
  orbitalSpeed: number;
  /** In degrees. */
  orbitalPhase: number;
}

/** Any fields of a Star. */
export interface UniverseStarPatch {
  bodyType?: "star" | "planet" | "moon" | "asteroid" | "comet" | "lagrangePoint" | "blackHole" | null;
  ring?: UniversePlanetaryRing | null;
  comet?: UniverseCometMeta | null;
  lagrangePoint?: UniverseLagrangePointMeta | null;
  blackHole?: UniverseBlackHoleProperties | null;
  parentBeltId?: string | null;
  asteroidSubType?: "mainBelt" | "kuiperBelt" | "generic" | null;
  lagrangeHostId?: string | null;
  isRoguePlanet?: boolean | null;
  roguePlanet?: UniverseRoguePlanetMeta | null;
  semiMajorAxis?: number | null;
  eccentricity?: number | null;
  orbitOffsetX?: number | null;
  orbitOffsetY?: number | null;
  orbitOffsetZ?: number | null;
  orbitRotX?: number | null;
  orbitRotY?: number | null;
  orbitRotZ?: number | null;
  kepler?: UniverseKepler | null;
  stateVector?: UniverseStateVector | null;
  sources?: UniverseSource[] | null;
  setBy?: Record<string, UniverseSetBy> | null;
  id?: string;
  name?: string;
  mass?: number;
  radius?: number;
  color?: string;
  children?: string[];
  parentId?: string | null;
  orbitalDistance?: number;
  /** In degrees for each simulation second. */
  orbitalSpeed?: number;
  /** In degrees. */
  orbitalPhase?: number;
}

/** A body without `id` and `children`, which the command and the hierarchy give it. */
export interface UniverseStarPayload {
  bodyType?: "star" | "planet" | "moon" | "asteroid" | "comet" | "lagrangePoint" | "blackHole" | null;
  ring?: UniversePlanetaryRing | null;
  comet?: UniverseCometMeta | null;
  lagrangePoint?: UniverseLagrangePointMeta | null;
  blackHole?: UniverseBlackHoleProperties | null;
  parentBeltId?: string | null;
  asteroidSubType?: "mainBelt" | "kuiperBelt" | "generic" | null;
  lagrangeHostId?: string | null;
  isRoguePlanet?: boolean | null;
  roguePlanet?: UniverseRoguePlanetMeta | null;
  semiMajorAxis?: number | null;
  eccentricity?: number | null;
  orbitOffsetX?: number | null;
  orbitOffsetY?: number | null;
  orbitOffsetZ?: number | null;
  orbitRotX?: number | null;
  orbitRotY?: number | null;
  orbitRotZ?: number | null;
  kepler?: UniverseKepler | null;
  stateVector?: UniverseStateVector | null;
  sources?: UniverseSource[] | null;
  setBy?: Record<string, UniverseSetBy> | null;
  name: string;
  mass: number;
  radius: number;
  color: string;
  /** The body it orbits; null for a root. */
  parentId: string | null;
  orbitalDistance: number;
  /** In degrees for each simulation second. */
  orbitalSpeed: number;
  orbitalPhase?: number | null;
}

export type UniverseState = UniverseStateFields;

/** A complete state. Parts that are left out are empty. */
export interface UniverseStateFields {
  stars?: Record<string, UniverseStar>;
  rootIds?: string[];
  groups?: Record<string, UniverseGroup>;
  rootGroupIds?: string[];
  belts?: Record<string, UniverseAsteroidBelt>;
  smallBodyFields?: Record<string, UniverseSmallBodyField>;
  protoplanetaryDisks?: Record<string, UniverseProtoplanetaryDisk>;
  nebulae?: Record<string, UniverseNebulaRegion>;
  time?: number;
}

/** The position and velocity of a body at an instant, from an ephemeris. N-body runs start from it. */
export interface UniverseStateVector {
  /** In the universe's time. */
  epoch: number;
  /** In AU, in the reference frame. */
  position: number[];
  /** In AU a day. */
  velocity: number[];
  mass?: number | null;
  frame?: string | null;
  elements?: string | null;
}

/** A number as a publication states it. */
export interface UniverseStated {
  value?: number | null;
  unit?: string | null;
  as_written?: string | null;
}

/** A real system that ships with the program. `id` is for `from`. */
export interface UniverseSystem {
  id: string;
  name: string;
}

/** Let time pass. */
export interface UniverseTick {
  type: "tick";
  /** The time that passes, in simulation seconds; may be negative. In astronomical units, as in all real systems, one simulation second is one day: a year is 365.25. */
  dt?: number;
}

/** The largest error of a body during the run. */
export interface UniverseTrajectoryError {
  au: number | null;
  degrees: number | null;
}

/** Some states of a trajectory: for each time and body, six numbers. */
export interface UniverseTrajectoryStates {
  ids: string[];
  names: string[];
  count: number;
  time: number;
  firstDay: number;
  stepDays: number;
  shortestPeriodDays: number | null;
  numbers: string[];
  frame: string;
  error: Record<string, UniverseTrajectoryError>;
  trustworthy: boolean;
  first: number;
  returned: number;
  next: number | null;
  states: (((number | null)[])[])[];
}

/** A transit. */
export interface UniverseTransitFacts {
  number: number;
  time: number;
  /** Its delay against a constant period. */
  ocMinutes: number | null;
  impactParameter: number | null;
  durationMinutes: number | null;
  kind: string;
  errorSeconds: number | null;
}

/** Transit times and their deviation from a constant period. */
export interface UniverseTransitOptions {
  /** Use the universe as it was at this version. */
  version?: number | null;
  /** The job fails after this many seconds. */
  maxSeconds?: number;
  kind?: "transits";
  days?: number;
  /** Ids or names. Default: all planets. */
  bodies?: string[] | null;
  observer?: number[] | null;
  /** Use fixed Kepler orbits, without mutual attraction. */
  kepler?: boolean;
}

/** The transits of a universe. */
export interface UniverseTransitReply {
  time: number;
  epochJulianDate: number | null;
  days: number;
  method: "kepler" | "gauss";
  timeScale: string;
  towardsObserver: number[];
  planets: Record<string, UniversePlanetTransits>;
  notes: string[];
  id: string;
  version: number;
}

/** A universe with its state, or a part of it. */
export interface UniverseUniverse {
  id: string;
  name: string;
  version: number;
  createdAt: string;
  updatedAt: string;
  createdBy: UniverseActor | null;
  renamedBy: UniverseActor | null;
  state: Record<string, UniverseJsonValue>;
  /** How many bodies are selected. */
  total?: number;
  next?: string | null;
  notFound?: string[];
  nearest?: Record<string, string[]>;
  /** Citations that bodies share, by id. */
  sources?: Record<string, UniverseJsonValue>;
}

/** Change fields of a group; lists of children are not repaired. */
export interface UniverseUpdateGroup {
  type: "updateGroup";
  id: string;
  payload: UniverseGroupPatch;
}

/** Change a nebula. */
export interface UniverseUpdateNebula {
  type: "updateNebula";
  id: string;
  patch: UniverseNebulaRegionPatch;
}

/** Change a protoplanetary disk. */
export interface UniverseUpdateProtoplanetaryDisk {
  type: "updateProtoplanetaryDisk";
  id: string;
  patch: UniverseProtoplanetaryDiskPatch;
}

/** Change the ring of a body; a body without a ring gets a default ring first. */
export interface UniverseUpdateRing {
  type: "updateRing";
  planetId: string;
  patch: UniversePlanetaryRingPatch;
}

/** Change a belt of particles. */
export interface UniverseUpdateSmallBodyField {
  type: "updateSmallBodyField";
  id: string;
  patch: UniverseSmallBodyFieldPatch;
}

/** Change fields of a body; nested blocks are replaced whole, child lists are not repaired. */
export interface UniverseUpdateStar {
  type: "updateStar";
  id: string;
  payload: UniverseStarPatch;
  /** Why the value is set; `universe cite` shows it. */
  reason?: string;
}

export interface UniverseValidationError {
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: unknown;
  ctx?: Record<string, unknown>;
}

/** A value with its unit, its status and the ids of its sources. */
export interface UniverseValueBrief {
  value: UniverseJsonValue;
  unit: string;
  status: "cited" | "supported" | "unverified claim" | "computed" | "set" | "without source";
  /** The note beside the value; empty if it has a source. */
  mark: string;
  sources: string[];
}

/** The origin of a value, with its universe and body. */
export interface UniverseValueOrigin {
  field: string;
  value: UniverseJsonValue;
  unit: string;
  status: "cited" | "supported" | "unverified claim" | "computed" | "set" | "without source";
  mark: string;
  sources: UniverseValueSource[];
  command: UniverseSettingCommand | null;
  withdrawn?: UniverseJsonValue;
  computed?: UniverseComputation;
  universe: string;
  version: number;
  body: string;
  name: string;
}

/** A publication of one value: the location of the value in it, and how the value follows from what it states. */
export interface UniverseValueSource {
  id: string;
  title?: UniverseJsonValue;
  authors?: UniverseJsonValue;
  year?: UniverseJsonValue;
  venue?: UniverseJsonValue;
  doi?: UniverseJsonValue;
  arxiv?: UniverseJsonValue;
  url?: UniverseJsonValue;
  computed?: UniverseJsonValue;
  /** Its authors and year in short. */
  shortCitation: string;
  location: UniverseJsonValue;
  conversion: string | null;
  status: string;
  reason: string | null;
  isChecked: boolean;
  dataFile?: string;
  note?: string | null;
}

/** The radial velocity of a star. */
export interface UniverseVelocityOptions {
  /** Use the universe as it was at this version. */
  version?: number | null;
  /** The job fails after this many seconds. */
  maxSeconds?: number;
  kind?: "rv";
  days?: number;
  samples?: number;
  /** Its id or name. Default: the heaviest star. */
  star?: string | null;
  observer?: number[] | null;
  /** Use fixed Kepler orbits, without mutual attraction. */
  kepler?: boolean;
}

/** The radial velocity of a star of a universe. */
export interface UniverseVelocityReply {
  time: number;
  epochJulianDate: number | null;
  days: number;
  method: "kepler" | "gauss";
  timeScale: string;
  towardsObserver: number[];
  star: string;
  starName: string;
  unit: string;
  least: number;
  greatest: number;
  errorMetresPerSecond: number | null;
  planets: Record<string, UniversePlanetSignal>;
  samples: UniverseVelocitySamples;
  notes: string[];
  id: string;
  version: number;
}

/** The velocities at some times. */
export interface UniverseVelocitySamples {
  times: number[];
  velocities: number[];
}

/** A universe at a version. */
export interface UniverseVersionFacts {
  id: string;
  version: number;
}

/** The habitable zone of a star; without limits, the note says why. */
export interface UniverseZone {
  limits: Record<string, UniverseZoneLimit> | null;
  temperature?: number;
  note: string | null;
  paper?: string;
}

/** A limit of a habitable zone. */
export interface UniverseZoneLimit {
  starlight: number;
  au: number;
}

/** A file among the workflows that cannot be read as a workflow. */
export interface UnreadableFile {
  path: string;
  problem: string;
  /** The name of the draft; None for a file that is not a draft or has a name that workflows cannot have. */
  draft?: string | null;
}

/** A value that differs. A run without the value does not have its key. */
export interface ValueDifference {
  name: string;
  first?: JsonValue;
  second?: JsonValue;
}

/** The mass of the planet in a version of the branch. */
export interface VersionMass {
  body: string;
  name: string;
  /** In solar masses. */
  mass: number;
  earth_masses: number;
  status: "cited" | "supported" | "unverified claim" | "computed" | "set" | "without source";
  reason: string;
  as_written: string;
  is_on_shelf: boolean;
  location: Location | null;
  source: MassSource | null;
  set_by: string;
  version: number;
}

/** The file of a workflow was written or deleted. `subject` is the name of the workflow. */
export interface WorkflowChange {
  /** The id of the thing that changed. */
  subject: string;
  at: string;
  kind: "workflow";
  source?: "library" | "draft";
  deleted?: boolean;
}

/** A workflow: its inputs, outputs, nodes, edges, statistics and problems. */
export interface WorkflowDescription {
  name: string;
  nodes: WorkflowNode[];
  edges: WorkflowEdge[];
  diagnostics: Diagnostic[];
  description: string;
  source: string;
  path: string;
  inputs: Record<string, InputDeclaration>;
  outputs: Record<string, OutputDeclaration>;
  template_variables: TemplateVariable[];
  nodes_total: number;
  edges_total: number;
  /** Whether lists or texts were cut. */
  truncated: boolean;
  /** The graph as a Mermaid diagram, or an empty text for a large graph. */
  graph: string;
  example: ExampleCall;
  statistics: WorkflowStatistics;
  last_failure: LastFailure | null;
  /** Why the log of runs cannot be read. */
  log_problem?: string;
  warnings: string[];
}

/** An edge of a workflow: after `from`, if it ends with `action`, comes `to`. */
export interface WorkflowEdge {
  from: string;
  to: string;
  action: string;
}

/** All nodes and edges of a workflow, for drawing. */
export interface WorkflowGraph {
  name: string;
  nodes: WorkflowNode[];
  edges: WorkflowEdge[];
  diagnostics: Diagnostic[];
}

/** The saved workflows, the drafts, and the files that cannot be read. */
export interface WorkflowList {
  workflows: SavedWorkflow[];
  drafts: DraftSummary[];
  problems: UnreadableFile[];
}

/** A workflow that matches a query. */
export interface WorkflowMatch {
  name: string;
  description: string;
  source: string;
  inputs: string[];
}

/** A node of a workflow. */
export interface WorkflowNode {
  id: string;
  type: string;
  purpose: string;
  is_batch: boolean;
}

/** How often a workflow ran, and how its runs ended. Of a log that cannot be read, only `execution_count`, 0. */
export interface WorkflowStatistics {
  execution_count: number;
  success_count?: number;
  failure_count?: number;
  last_execution_timestamp?: string | null;
  last_execution_success?: boolean | null;
  last_duration_ms?: number | null;
  average_duration_ms?: number | null;
  last_error?: string | null;
  last_failed_node?: string | null;
  other_endings?: Record<string, number>;
}

/** The text of a workflow. `source` is `library` or `draft`. */
export interface WorkflowText {
  name: string;
  source: string;
  /** The workflow; None for a draft whose file is not a workflow, such as broken JSON. */
  document: Record<string, JsonValue> | null;
  /** The text of the file, if there is no document. */
  text?: string | null;
  /** Why there is no document. */
  diagnostics?: Diagnostic[];
  /** Differs if the text differs. Send it with a new text, so that a change of somebody else is not lost. */
  revision: string;
}

/** A workflow that mentions a paper, and the ids of its nodes that do. */
export interface WorkflowUse {
  name: string;
  source: "library" | "draft";
  nodes: string[];
}

/** The findings about a text that was written. */
export interface WrittenText {
  name: string;
  diagnostics: Diagnostic[];
  revision: string;
}

/** The first and the last year of papers. */
export interface YearBounds {
  first: number | null;
  last: number | null;
}

/** The number of papers of a year. */
export interface YearCount {
  year: number;
  paper_count: number;
}

/** Every operation, by method and path. */
export interface Operations {
  /** List the last calls of tools. */
  "GET /api/calls": {
    id: "list_tool_calls";
    path: Record<never, never>;
    query: {
      limit?: number;
      /** Only calls of this tool. */
      tool?: string | null;
      /** Only calls about this universe. */
      about?: string | null;
      /** Only calls with an error. */
      failed?: boolean;
    };
    body: undefined;
    reply: CallList;
  };
  /** List the commands. */
  "GET /api/commands": {
    id: "universe_list_commands";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: UniverseCommandList;
  };
  /** List types of nodes. */
  "GET /api/components": {
    id: "list_components";
    path: Record<never, never>;
    query: {
      query?: string;
      workflows?: boolean;
      /** Describe the parameters of all types, not of the best alone. */
      in_full?: boolean;
    };
    body: undefined;
    reply: ComponentList;
  };
  /** List connections. */
  "GET /api/connections": {
    id: "list_connections";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: ConnectionList;
  };
  /** Check the installation. */
  "GET /api/doctor": {
    id: "check_installation";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: CheckList;
  };
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
    reply: WrittenText;
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
    reply: QuestionSummaryPage;
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
  /** List the jobs of all universes. */
  "GET /api/jobs": {
    id: "universe_list_all_jobs";
    path: Record<never, never>;
    query: {
      /** Only jobs in this state. */
      state?: "queued" | "running" | "done" | "failed" | "cancelled" | null;
      limit?: number;
      /** `next` of the previous page. */
      cursor?: string | null;
    };
    body: undefined;
    reply: UniverseJobList;
  };
  /** Return your name. */
  "GET /api/me": {
    id: "get_me";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: PersonName;
  };
  /** List what universes can be created from. */
  "GET /api/origins": {
    id: "universe_list_origins";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: UniverseOriginList;
  };
  /** List files and folders. */
  "GET /api/paths": {
    id: "list_paths";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: LocationList;
  };
  /** Compare two runs. */
  "GET /api/run-comparison": {
    id: "compare_runs";
    path: Record<never, never>;
    query: {
      first: string;
      second: string;
    };
    body: undefined;
    reply: RunComparison;
  };
  /** Count what runs. */
  "GET /api/running": {
    id: "count_running";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: RunningCounts;
  };
  /** List runs. */
  "GET /api/runs": {
    id: "list_runs";
    path: Record<never, never>;
    query: {
      workflow?: string | null;
      status?: "running" | "success" | "failed" | "cancelled" | "waiting" | "interrupted" | null;
      /** `next` of the page before. */
      before?: string | null;
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
  /** List approvals of a run. */
  "GET /api/runs/{run_id}/approvals": {
    id: "list_run_approvals";
    path: {
      /** The id of a run, or its beginning. */
      run_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: RunApprovals;
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
  /** List items of a batch. */
  "GET /api/runs/{run_id}/items": {
    id: "list_run_items";
    path: {
      /** The id of a run, or its beginning. */
      run_id: string;
    };
    query: {
      /** The node, such as `collect` or `outer/inner`. */
      node: string;
      /** Only items that ended so. */
      status?: "running" | "completed" | "reused" | "failed" | "waiting" | "skipped" | "uncertain" | null;
      /** `item` of the last known item, or `next`. */
      after?: number;
      limit?: number;
    };
    body: undefined;
    reply: RunItemPage;
  };
  /** List messages of a node. */
  "GET /api/runs/{run_id}/messages": {
    id: "list_node_messages";
    path: {
      /** The id of a run, or its beginning. */
      run_id: string;
    };
    query: {
      /** The node, such as `collect` or `outer/inner`. */
      node: string;
    };
    body: undefined;
    reply: NodeMessages;
  };
  /** Return a node of a run. */
  "GET /api/runs/{run_id}/nodes/{seq}": {
    id: "get_run_node";
    path: {
      /** The id of a run, or its beginning. */
      run_id: string;
      /** The `seq` of the node. */
      seq: number;
    };
    query: Record<never, never>;
    body: undefined;
    reply: RunNode;
  };
  /** Return the progress of a run. */
  "GET /api/runs/{run_id}/progress": {
    id: "get_run_progress";
    path: {
      /** The id of a run, or its beginning. */
      run_id: string;
    };
    query: {
      /** `seq` of the last known node, or `next`. */
      after?: number;
      limit?: number;
    };
    body: undefined;
    reply: RunProgress;
  };
  /** Run a workflow again. */
  "POST /api/runs/{run_id}/resume": {
    id: "resume_run";
    path: {
      /** The id of a run, or its beginning. */
      run_id: string;
    };
    query: Record<never, never>;
    body: Body_resume_run | undefined;
    reply: StartedRun | EndedRun;
  };
  /** List the schedules. */
  "GET /api/schedules": {
    id: "list_schedules";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: ScheduleList;
  };
  /** Add a schedule. */
  "PUT /api/schedules/{name}": {
    id: "add_schedule";
    path: {
      /** The name of a workflow. */
      name: string;
    };
    query: Record<never, never>;
    body: Body_add_schedule;
    reply: AddedSchedule;
  };
  /** Remove a schedule. */
  "DELETE /api/schedules/{name}": {
    id: "delete_schedule";
    path: {
      /** The name of a workflow. */
      name: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: undefined;
  };
  /** Return what a new search can choose. */
  "GET /api/search-options": {
    id: "get_search_options";
    path: Record<never, never>;
    query: {
      /** The sources of offline trials, or of searches. */
      offline?: boolean | null;
    };
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
  /** Check that a source answers. */
  "POST /api/search-sources/{name}/check": {
    id: "check_paper_source";
    path: {
      /** The name of a source. */
      name: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: SourceReportReply;
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
  /** List merges and splits. */
  "GET /api/searches/{session_id}/corrections": {
    id: "list_corrections";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CorrectionList;
  };
  /** Merge papers. */
  "POST /api/searches/{session_id}/corrections/merge": {
    id: "merge_papers";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: PaperMerge;
    reply: CorrectionList;
  };
  /** Split a paper. */
  "POST /api/searches/{session_id}/corrections/split": {
    id: "split_paper";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: PaperSplit;
    reply: CorrectionList;
  };
  /** Withdraw a change. */
  "DELETE /api/searches/{session_id}/corrections/{paper_id}": {
    id: "withdraw_correction";
    path: {
      /** The id of a session. */
      session_id: string;
      /** The id of a paper. */
      paper_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CorrectionList;
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
      /** Only papers with this reason. */
      reason?: ExclusionReason | null;
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
    reply: Record<string, unknown> | unknown[];
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
      sort?: "rank" | "score" | "year" | "title" | "status" | "source";
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
  /** Return the plan for other databases. */
  "GET /api/searches/{session_id}/strategy/copies": {
    id: "list_strategy_copies";
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: PlanCopies;
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
  /** List the settings. */
  "GET /api/settings": {
    id: "list_settings";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: SettingList;
  };
  /** Change a setting. */
  "PUT /api/settings/{name}": {
    id: "update_setting";
    path: {
      name: string;
    };
    query: Record<never, never>;
    body: Body_update_setting;
    reply: SettingFacts;
  };
  /** List the shelves. */
  "GET /api/shelves": {
    id: "list_shelves";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: ShelfList;
  };
  /** Return a shelf in numbers. */
  "GET /api/shelves/{shelf}": {
    id: "get_shelf";
    path: {
      /** The name of a shelf. */
      shelf: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: ShelfDetails;
  };
  /** List frequent values. */
  "GET /api/shelves/{shelf}/facets/{kind}": {
    id: "list_facet_values";
    path: {
      /** The name of a shelf. */
      shelf: string;
      kind: "author" | "venue" | "keyword" | "institution" | "tag" | "year";
    };
    query: {
      limit?: number;
      offset?: number;
    };
    body: undefined;
    reply: FacetPage;
  };
  /** Find a paper by its id. */
  "GET /api/shelves/{shelf}/lookup": {
    id: "look_up_paper";
    path: {
      /** The name of a shelf. */
      shelf: string;
    };
    query: {
      /** A DOI, arXiv id, BibTeX key or paper_id. */
      id?: string | null;
      /** The exact title. */
      title?: string | null;
    };
    body: undefined;
    reply: FoundPapers;
  };
  /** List notes. */
  "GET /api/shelves/{shelf}/notes": {
    id: "list_notes";
    path: {
      /** The name of a shelf. */
      shelf: string;
    };
    query: {
      collection?: string | null;
    };
    body: undefined;
    reply: NoteList;
  };
  /** Return a paper. */
  "GET /api/shelves/{shelf}/papers/{paper_id}": {
    id: "get_paper";
    path: {
      /** The name of a shelf. */
      shelf: string;
      /** A paper_id, arXiv id or BibTeX key. */
      paper_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: PaperMetadata;
  };
  /** Cite a paper. */
  "GET /api/shelves/{shelf}/papers/{paper_id}/citations": {
    id: "list_citations";
    path: {
      /** The name of a shelf. */
      shelf: string;
      /** A paper_id, arXiv id or BibTeX key. */
      paper_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CitationList;
  };
  /** Return the note on a paper. */
  "GET /api/shelves/{shelf}/papers/{paper_id}/note": {
    id: "get_note";
    path: {
      /** The name of a shelf. */
      shelf: string;
      /** A paper_id, arXiv id or BibTeX key. */
      paper_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: PaperNoteReply;
  };
  /** Write the note on a paper. */
  "PUT /api/shelves/{shelf}/papers/{paper_id}/note": {
    id: "write_note";
    path: {
      /** The name of a shelf. */
      shelf: string;
      /** A paper_id, arXiv id or BibTeX key. */
      paper_id: string;
    };
    query: Record<never, never>;
    body: Body_write_note;
    reply: PaperNoteReply;
  };
  /** Return the PDF of a paper. */
  "GET /api/shelves/{shelf}/papers/{paper_id}/original": {
    id: "get_paper_original";
    path: {
      /** The name of a shelf. */
      shelf: string;
      /** A paper_id, arXiv id or BibTeX key. */
      paper_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: unknown;
  };
  /** List similar papers. */
  "GET /api/shelves/{shelf}/papers/{paper_id}/similar": {
    id: "list_similar_papers";
    path: {
      /** The name of a shelf. */
      shelf: string;
      /** A paper_id, arXiv id or BibTeX key. */
      paper_id: string;
    };
    query: {
      limit?: number;
      offset?: number;
    };
    body: undefined;
    reply: PaperSearchPage;
  };
  /** Return a summary of a paper. */
  "GET /api/shelves/{shelf}/papers/{paper_id}/summary": {
    id: "get_paper_summary";
    path: {
      /** The name of a shelf. */
      shelf: string;
      /** A paper_id, arXiv id or BibTeX key. */
      paper_id: string;
    };
    query: {
      template?: string | null;
    };
    body: undefined;
    reply: PaperSummary;
  };
  /** Return the text of a paper. */
  "GET /api/shelves/{shelf}/papers/{paper_id}/text": {
    id: "get_paper_text";
    path: {
      /** The name of a shelf. */
      shelf: string;
      /** A paper_id, arXiv id or BibTeX key. */
      paper_id: string;
    };
    query: {
      /** The language of a translation. */
      lang?: string | null;
      /** A position in the text; its page is returned. */
      offset?: number;
      /** Return the section under this heading. */
      section?: string | null;
    };
    body: undefined;
    reply: TextPage;
  };
  /** List where a paper is used. */
  "GET /api/shelves/{shelf}/papers/{paper_id}/uses": {
    id: "list_paper_uses";
    path: {
      /** The name of a shelf. */
      shelf: string;
      /** A paper_id, arXiv id or BibTeX key. */
      paper_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: PaperUseList;
  };
  /** Search a shelf. */
  "GET /api/shelves/{shelf}/search": {
    id: "search_shelf";
    path: {
      /** The name of a shelf. */
      shelf: string;
    };
    query: {
      /** The query; empty lists all papers. */
      q?: string;
      limit?: number;
      offset?: number;
      sort?: "relevance" | "year_desc" | "year_asc" | "title_asc" | "title_desc";
      author?: string | null;
      venue?: string | null;
      keyword?: string | null;
      institution?: string | null;
      tag?: string | null;
      /** 2021 or 2019..2023 */
      year?: string | null;
      /** Count these values. Repeatable. */
      facets?: ("author" | "venue" | "keyword" | "institution" | "tag" | "year")[] | null;
      facet_limit?: number;
      /** Count the papers of each year. */
      years?: boolean;
    };
    body: undefined;
    reply: PaperSearchPage;
  };
  /** Return the name of the person signed in. */
  "GET /api/sign-in": {
    id: "get_sign_in";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: SignInState;
  };
  /** Exchange the token for a key. */
  "POST /api/sign-in": {
    id: "sign_in";
    path: Record<never, never>;
    query: Record<never, never>;
    body: Body_sign_in;
    reply: SignedIn;
  };
  /** Exchange a key for a new one. */
  "POST /api/sign-in/renew": {
    id: "renew_key";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: SignedIn;
  };
  /** Make the key invalid. */
  "POST /api/sign-out": {
    id: "sign_out";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: undefined;
  };
  /** Make all keys invalid. */
  "POST /api/sign-out-everywhere": {
    id: "sign_out_everywhere";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: undefined;
  };
  /** Return the state of the story. */
  "GET /api/story": {
    id: "get_story";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: StoryState;
  };
  /** Return a picture or the bundle. */
  "GET /api/story/files/{path}": {
    id: "get_story_file";
    path: {
      path: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: unknown;
  };
  /** Start the story over. */
  "POST /api/story/restart": {
    id: "restart_story";
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: StoryState;
  };
  /** Return a step. */
  "GET /api/story/steps/{step_id}": {
    id: "get_story_step";
    path: {
      /** The id of a step. */
      step_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: StoryStepWithResult;
  };
  /** Run a step. */
  "POST /api/story/steps/{step_id}": {
    id: "run_story_step";
    path: {
      /** The id of a step. */
      step_id: string;
    };
    query: Record<never, never>;
    body: Body_run_story_step | undefined;
    reply: StoryState;
  };
  /** List universes. */
  "GET /api/universes": {
    id: "universe_list";
    path: Record<never, never>;
    query: {
      limit?: number;
      /** `next` of the previous page. */
      cursor?: string | null;
    };
    body: undefined;
    reply: UniverseFactsList;
  };
  /** Create a universe. */
  "POST /api/universes": {
    id: "universe_create";
    path: Record<never, never>;
    query: Record<never, never>;
    body: {
      name: string;
      state?: UniverseState;
      id?: string;
      settings?: Record<string, unknown>;
      from?: string;
    };
    reply: UniverseUniverse;
  };
  /** Import systems from a table. */
  "POST /api/universes/import": {
    id: "universe_import";
    path: Record<never, never>;
    query: Record<never, never>;
    body: {
      content: string | string[];
      name?: string;
      id?: string;
      each?: boolean;
      dryRun?: boolean;
      format?: "archive" | "bodies" | "vectors" | "horizons";
      omegaOf?: "star" | "planet";
      circumbinary?: "refuse" | "barycentre";
      units?: "au-day" | "au-year" | "au-yr2pi" | "si";
    };
    reply: UniverseImportReply;
  };
  /** Read a universe. */
  "GET /api/universes/{universe_id}": {
    id: "universe_read";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** Only these entities; repeat it for several. */
      ids?: string[] | null;
      /** Only these fields of entities, such as `name`. */
      fields?: string[] | null;
      /** Only this body and the bodies below it. */
      under?: string | null;
      /** Only bodies in the sphere x,y,z,radius at the state's time. */
      near?: string | null;
      /** The most bodies in this page. */
      limit?: number | null;
      /** `next` of the previous page. */
      cursor?: string | null;
      /** compact: each citation once, in `sources` of the reply. */
      format?: "full" | "compact";
      /** Use the universe as it was at this version. */
      version?: number | null;
    };
    body: undefined;
    reply: UniverseUniverse;
  };
  /** Rename a universe, or replace its state. */
  "PUT /api/universes/{universe_id}": {
    id: "universe_replace";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** Refuse the request (409) unless the universe is at this version. */
      expectedVersion?: number | null;
    };
    body: {
      name?: string;
      state?: UniverseState;
    };
    reply: UniverseUniverse;
  };
  /** Delete a universe. */
  "DELETE /api/universes/{universe_id}": {
    id: "universe_delete";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: undefined;
  };
  /** Branch a universe. */
  "POST /api/universes/{universe_id}/branch": {
    id: "universe_branch";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** record: the reply without the state. */
      return?: "state" | "record";
    };
    body: {
      version?: number;
      name?: string;
    };
    reply: UniverseUniverse | UniverseFacts;
  };
  /** Cite the sources. */
  "GET /api/universes/{universe_id}/cite": {
    id: "universe_cite";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** The values of this body, by id or name. */
      body?: string | null;
      /** With body: the origin of this field. */
      field?: string | null;
      /** Add the papers behind computed quantities. */
      physics?: boolean;
      format?: "json" | "bibtex";
      /** Use the universe as it was at this version. */
      version?: number | null;
    };
    body: undefined;
    reply: UniverseCitations | UniverseBodyOrigins | UniverseValueOrigin;
  };
  /** Send a command. */
  "POST /api/universes/{universe_id}/commands": {
    id: "universe_send";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** The content of the reply. */
      return?: "state" | "changes" | "events";
      /** Refuse the request (409) unless the universe is at this version. */
      expectedVersion?: number | null;
    };
    body: UniverseCommand | UniverseCommand[];
    reply: UniverseResult;
  };
  /** Compare two versions or two universes. */
  "GET /api/universes/{universe_id}/differences": {
    id: "universe_differences";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** The earlier version. Default: the first. */
      from?: number | null;
      /** The later version. Default: now. */
      to?: number | null;
      /** Compare with this universe instead. */
      with?: string | null;
    };
    body: undefined;
    reply: UniverseDifferences;
  };
  /** Read all orbits as one binary. */
  "GET /api/universes/{universe_id}/elements": {
    id: "universe_read_elements";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** Use the universe as it was at this version. */
      version?: number | null;
    };
    body: undefined;
    reply: unknown;
  };
  /** Stream events. */
  "GET /api/universes/{universe_id}/events": {
    id: "universe_events";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** Start after this version. */
      since?: number | null;
    };
    body: undefined;
    reply: unknown;
  };
  /** Export a universe. */
  "GET /api/universes/{universe_id}/export": {
    id: "universe_export";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      format?: "json" | "csv" | "votable" | "rebound" | "rebound-csv";
      /** The duration of a REBOUND script. */
      days?: number;
      /** Use the universe as it was at this version. */
      version?: number | null;
    };
    body: undefined;
    reply: unknown;
  };
  /** List the history. */
  "GET /api/universes/{universe_id}/history": {
    id: "universe_history";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      after?: number;
      limit?: number;
    };
    body: undefined;
    reply: UniverseHistory;
  };
  /** List jobs. */
  "GET /api/universes/{universe_id}/jobs": {
    id: "universe_list_jobs";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** Only jobs in this state. */
      state?: "queued" | "running" | "done" | "failed" | "cancelled" | null;
      limit?: number;
      /** `next` of the previous page. */
      cursor?: string | null;
    };
    body: undefined;
    reply: UniverseJobList;
  };
  /** Start a job. */
  "POST /api/universes/{universe_id}/jobs": {
    id: "universe_start_job";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: Record<never, never>;
    body: UniverseNbodyOptions | UniverseTransitOptions | UniverseVelocityOptions;
    reply: UniverseJobFacts;
  };
  /** Read a job. */
  "GET /api/universes/{universe_id}/jobs/{job_id}": {
    id: "universe_read_job";
    path: {
      /** The id of a universe. */
      universe_id: string;
      /** The id of a job. */
      job_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: UniverseJobFacts;
  };
  /** Delete a job. */
  "DELETE /api/universes/{universe_id}/jobs/{job_id}": {
    id: "universe_delete_job";
    path: {
      /** The id of a universe. */
      universe_id: string;
      /** The id of a job. */
      job_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: undefined;
  };
  /** Cancel a job. */
  "POST /api/universes/{universe_id}/jobs/{job_id}/cancel": {
    id: "universe_cancel_job";
    path: {
      /** The id of a universe. */
      universe_id: string;
      /** The id of a job. */
      job_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: UniverseJobFacts;
  };
  /** Compare two N-body runs. */
  "GET /api/universes/{universe_id}/jobs/{job_id}/comparison": {
    id: "universe_compare_jobs";
    path: {
      /** The id of a universe. */
      universe_id: string;
      /** The id of a job. */
      job_id: string;
    };
    query: {
      /** The id of the other job. */
      with: string;
      /** Its universe. Default: the same. */
      withUniverse?: string | null;
    };
    body: undefined;
    reply: UniverseRunComparison;
  };
  /** Stream the progress of a job. */
  "GET /api/universes/{universe_id}/jobs/{job_id}/events": {
    id: "universe_stream_job";
    path: {
      /** The id of a universe. */
      universe_id: string;
      /** The id of a job. */
      job_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: unknown;
  };
  /** Draw the result of a job. */
  "GET /api/universes/{universe_id}/jobs/{job_id}/plot": {
    id: "universe_plot_job";
    path: {
      /** The id of a universe. */
      universe_id: string;
      /** The id of a job. */
      job_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: unknown;
  };
  /** Read the result of a job. */
  "GET /api/universes/{universe_id}/jobs/{job_id}/result": {
    id: "universe_read_job_result";
    path: {
      /** The id of a universe. */
      universe_id: string;
      /** The id of a job. */
      job_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: UniverseRunReply | UniverseTransitReply | UniverseVelocityReply;
  };
  /** Read the chart of a job as numbers. */
  "GET /api/universes/{universe_id}/jobs/{job_id}/series": {
    id: "universe_read_job_series";
    path: {
      /** The id of a universe. */
      universe_id: string;
      /** The id of a job. */
      job_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: UniverseJobChart;
  };
  /** Read the trajectory of an N-body run. */
  "GET /api/universes/{universe_id}/jobs/{job_id}/trajectory": {
    id: "universe_read_job_trajectory";
    path: {
      /** The id of a universe. */
      universe_id: string;
      /** The id of a job. */
      job_id: string;
    };
    query: {
      /** The index of the first time. */
      first?: number;
      /** The number of times. */
      limit?: number;
      /** float32: six little-endian numbers for each body, for each time. */
      format?: "json" | "float32";
    };
    body: undefined;
    reply: UniverseTrajectoryStates;
  };
  /** Compute physical quantities. */
  "GET /api/universes/{universe_id}/physics": {
    id: "universe_physics";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** Use the universe as it was at this version. */
      version?: number | null;
      /** False: habitable zones without the values of bodies. */
      bodies?: boolean;
    };
    body: undefined;
    reply: UniversePhysics;
  };
  /** Draw the orbits. */
  "GET /api/universes/{universe_id}/plot": {
    id: "universe_plot";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** Default: the time of the universe. */
      t?: number | null;
      /** The scale of distances. */
      scale?: "auto" | "linear" | "log";
      format?: "svg" | "png";
      /** Use the universe as it was at this version. */
      version?: number | null;
    };
    body: undefined;
    reply: unknown;
  };
  /** Compute positions. */
  "GET /api/universes/{universe_id}/positions": {
    id: "universe_read_positions";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      /** The time. Default: the time of the universe. */
      t?: number | null;
      /** float32: three little-endian numbers for each body. */
      format?: "json" | "float32" | null;
      /** Use the universe as it was at this version. */
      version?: number | null;
    };
    body: undefined;
    reply: UniversePositionList;
  };
  /** Restore a version. */
  "POST /api/universes/{universe_id}/restore": {
    id: "universe_restore";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      return?: "state" | "changes" | "events";
      /** Refuse the request (409) unless the universe is at this version. */
      expectedVersion?: number | null;
    };
    body: {
      version: number;
    };
    reply: UniverseResult;
  };
  /** Undo the last change. */
  "POST /api/universes/{universe_id}/undo": {
    id: "universe_undo";
    path: {
      /** The id of a universe. */
      universe_id: string;
    };
    query: {
      return?: "state" | "changes" | "events";
      /** Refuse the request (409) unless the universe is at this version. */
      expectedVersion?: number | null;
    };
    body: undefined;
    reply: UniverseResult;
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
  /** Replace a saved workflow. */
  "PUT /api/workflows/{name}": {
    id: "replace_workflow";
    path: {
      /** The name of a workflow. */
      name: string;
    };
    query: Record<never, never>;
    body: Body_replace_workflow;
    reply: WrittenText;
  };
  /** Read a workflow. */
  "GET /api/workflows/{name}/document": {
    id: "read_workflow";
    path: {
      /** The name of a workflow. */
      name: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WorkflowText;
  };
  /** Return the graph. */
  "GET /api/workflows/{name}/graph": {
    id: "get_workflow_graph";
    path: {
      /** The name of a workflow. */
      name: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WorkflowGraph;
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
