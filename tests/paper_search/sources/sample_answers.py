"""Sample answers in the formats of the sources. The papers and people are fictitious."""

import json
from typing import Any

from paper_search.models import SearchConstraints, SearchQuery
from paper_search.sources import (
    arxiv,
    crossref,
    dblp,
    europepmc,
    openalex,
    pubmed,
    semantic_scholar,
    serpapi_scholar,
)
from paper_search.sources.interfaces import Request, Response, SourceDefinition, SourcePage

DEFINITIONS: dict[str, SourceDefinition] = {
    module.NAME: module.definition
    for module in (openalex, crossref, arxiv, semantic_scholar, europepmc, pubmed, dblp, serpapi_scholar)
}
QUERY = SearchQuery(keywords=[], boolean_query='(kiln OR "glass furnace*") AND glaze NOT review')
S2_ID = "0123456789abcdef0123456789abcdef01234567"


def make_response(body: bytes | str | dict[str, Any] | list[Any], status: int = 200, **headers: str) -> Response:
    if isinstance(body, dict | list):
        body = json.dumps(body)
    raw = body.encode() if isinstance(body, str) else body
    return Response(status, raw, {name.replace("_", "-"): value for name, value in headers.items()})


def build_request(source: str, limit: int = 10, query: SearchQuery = QUERY, **filters: Any) -> Request:
    return DEFINITIONS[source].build_requests(query, SearchConstraints(**filters), limit)[0]


def build_params(source: str, limit: int = 10, query: SearchQuery = QUERY, **filters: Any) -> dict[str, str]:
    return dict(build_request(source, limit, query, **filters).params)


def read_sample(source: str, body: bytes | str | dict[str, Any] | list[Any], limit: int = 10) -> SourcePage:
    return DEFINITIONS[source].read_response(build_request(source, limit), make_response(body))


OPENALEX: dict[str, Any] = {
    "meta": {"count": 41, "per_page": 1, "next_cursor": "IlsxMDAuMF0i"},
    "results": [
        {
            "id": "https://openalex.org/W42",
            "doi": "https://doi.org/10.5555/KILN.1",
            "title": "Glazes &amp; <i>kilns</i>",
            "publication_year": 2021,
            "language": "en",
            "type": "article",
            "cited_by_count": 7,
            "is_retracted": False,
            "ids": {
                "pmid": "https://pubmed.ncbi.nlm.nih.gov/123",
                "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/9",
            },
            "primary_location": {
                "landing_page_url": "https://doi.org/10.5555/kiln.1",
                "pdf_url": None,
                "source": {
                    "display_name": "Journal of Kilns",
                    "host_organization_name": "Clay Press",
                    "type": "journal",
                },
            },
            "best_oa_location": {"pdf_url": "https://arxiv.org/pdf/2101.00001v2", "landing_page_url": None},
            "open_access": {"is_oa": True, "oa_url": "https://arxiv.org/abs/2101.00001"},
            "authorships": [
                {"author": {"id": "https://openalex.org/A1", "display_name": "Ada Example"}},
                {"author": {"id": None, "display_name": None}, "raw_author_name": "Bo Sample"},
            ],
            "biblio": {"volume": "3", "issue": "2", "first_page": "12", "last_page": "34"},
            "abstract_inverted_index": {"fire": [2, 4], "Glazes": [0], "need": [1], "and": [3]},
        }
    ],
}
CROSSREF: dict[str, Any] = {
    "status": "ok",
    "message-type": "work-list",
    "message": {
        "total-results": 900,
        "items": [
            {
                "DOI": "10.5555/KILN.1",
                "type": "journal-article",
                "title": ["Glazes &amp;amp; <i>kilns</i>"],
                "container-title": ["Journal of Kilns &amp; Clay"],
                "author": [
                    {"given": "Ada", "family": "Example", "ORCID": "http://orcid.org/0000-0000-0000-0001"},
                    {"name": "The Kiln Group"},
                    {"given": "Bo", "family": "Sample", "suffix": "Jr."},
                ],
                "issued": {"date-parts": [[None]]},
                "published-print": {"date-parts": [[2021, 3]]},
                "abstract": "<jats:title>Abstract</jats:title><jats:p>H<jats:sub>2</jats:sub>O, p &lt; 0.05.</jats:p>",
                "is-referenced-by-count": 7,
                "volume": "3",
                "issue": "2",
                "page": "12–34",
                "publisher": "Clay Press",
                "license": [{"URL": "http://creativecommons.org/licenses/by/4.0/"}],
                "link": [{"URL": "https://clay.example.org/1.pdf", "content-type": "application/pdf"}],
            }
        ],
    },
}
ARXIV = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom"
 xmlns="http://www.w3.org/2005/Atom">
  <opensearch:totalResults>31</opensearch:totalResults>
  <entry>
    <id>http://arxiv.org/abs/2101.00001v2</id>
    <title>Glazes
      and kilns</title>
    <updated>2022-02-01T00:00:00Z</updated><published>2021-01-01T00:00:00Z</published>
    <link href="https://arxiv.org/abs/2101.00001v2" rel="alternate" type="text/html"/>
    <link href="https://arxiv.org/pdf/2101.00001v2" rel="related" type="application/pdf" title="pdf"/>
    <summary>  We fire glazes &amp; wait.  </summary>
    <category term="physics.app-ph"/><arxiv:comment>3 pages</arxiv:comment>
    <arxiv:journal_ref>J. Kilns 3 (2022) 12</arxiv:journal_ref><arxiv:doi>10.5555/KILN.1</arxiv:doi>
    <author><name>Ada Example</name></author><author><name>Bo Sample</name></author>
  </entry>
</feed>"""
ARXIV_ERROR = """<feed xmlns="http://www.w3.org/2005/Atom"><entry>
  <id>https://arxiv.org/api/errors#start_must_be_an_integer</id><title>Error</title>
  <summary>start must be an integer</summary></entry></feed>"""
SEMANTIC_SCHOLAR: dict[str, Any] = {
    "total": 2500,
    "token": "PBWNCP",
    "data": [
        {
            "paperId": S2_ID.upper(),
            "externalIds": {
                "DOI": "10.5555/KILN.1",
                "ArXiv": "2101.00001",
                "PubMed": 123,
                "PubMedCentral": "9",
                "DBLP": "journals/kilns/ExampleS21",
                "CorpusId": 1,
            },
            "title": "Glazes and kilns",
            "abstract": "We fire glazes.",
            "year": 2021,
            "venue": "",
            "journal": {"name": "Journal of Kilns", "volume": "3", "pages": "\n 12 - 34 "},
            "citationCount": 7,
            "openAccessPdf": {"url": ""},
            "publicationTypes": ["JournalArticle", "Conference"],
            "authors": [{"authorId": "1", "name": "Ada Example"}, {"authorId": None, "name": "Bo Sample"}],
            "url": "https://www.semanticscholar.org/paper/x",
        }
    ],
}
EUROPEPMC: dict[str, Any] = {
    "hitCount": 77,
    "nextCursorMark": "AoIIP4=",
    "resultList": {
        "result": [
            {
                "id": "123",
                "source": "MED",
                "pmid": "123",
                "pmcid": "PMC9",
                "doi": "10.5555/KILN.1",
                "title": "Glazes and <i>kilns</i>.",
                "authorList": {
                    "author": [
                        {
                            "firstName": "Ada",
                            "lastName": "Example",
                            "fullName": "Example A",
                            "authorId": {"type": "ORCID", "value": "0000-0000-0000-0001"},
                        },
                        {"collectiveName": "The Kiln Group"},
                    ]
                },
                "authorString": "Example A, The Kiln Group.",
                "journalInfo": {
                    "yearOfPublication": 2021,
                    "volume": "3",
                    "issue": "2",
                    "journal": {"title": "Journal of Kilns"},
                },
                "pubYear": "2021",
                "pageInfo": "12-34",
                "abstractText": "<h4>Aim</h4>We fire glazes.",
                "language": "eng",
                "pubTypeList": {"pubType": ["Journal Article", "Review"]},
                "citedByCount": 7,
                "fullTextUrlList": {
                    "fullTextUrl": [
                        {"availabilityCode": "S", "documentStyle": "doi", "url": "https://doi.org/10.5555/kiln.1"},
                        {
                            "availabilityCode": "OA",
                            "documentStyle": "html",
                            "url": "https://europepmc.org/articles/PMC9",
                        },
                        {
                            "availabilityCode": "OA",
                            "documentStyle": "pdf",
                            "url": "https://europepmc.org/PMC9?pdf=render",
                        },
                    ]
                },
            }
        ]
    },
}
EUROPEPMC_XML = """<responseWrapper><hitCount>1</hitCount><resultList><result>
  <id>123</id><source>MED</source><pmid>123</pmid><doi>10.5555/KILN.1</doi><title>Glazes and kilns.</title>
  <authorString>Example A, Sample B.</authorString><journalTitle>J Kilns</journalTitle><pubYear>2021</pubYear>
  <citedByCount>7</citedByCount></result></resultList></responseWrapper>"""
ESEARCH: dict[str, Any] = {"header": {}, "esearchresult": {"count": "4321", "idlist": ["123", "124"]}}
EFETCH = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed.dtd">
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">123</PMID><Article>
  <Journal><JournalIssue><Volume>3</Volume><Issue>2</Issue><PubDate><MedlineDate>2021 Jan-Feb</MedlineDate></PubDate>
  </JournalIssue><Title>Journal of Kilns</Title></Journal>
  <ArticleTitle>Glazes of H<sub>2</sub>O in <i>kilns</i>.</ArticleTitle>
  <Pagination><StartPage>112</StartPage><EndPage>134</EndPage><MedlinePgn>112-34</MedlinePgn></Pagination>
  <ELocationID EIdType="doi" ValidYN="Y">10.5555/KILN.1</ELocationID>
  <Abstract><AbstractText Label="AIM">We <b>fire</b> glazes.</AbstractText>
    <AbstractText>They melt.</AbstractText></Abstract>
  <AuthorList><Author><LastName>Example</LastName><ForeName>Ada</ForeName><Suffix>3rd</Suffix></Author>
    <Author><CollectiveName>The Kiln Group</CollectiveName></Author></AuthorList>
  <Language>eng</Language><PublicationTypeList><PublicationType>Review</PublicationType></PublicationTypeList>
</Article></MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="pubmed">123</ArticleId>
  <ArticleId IdType="pmc">PMC9</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
<PubmedBookArticle><BookDocument><PMID>124</PMID>
  <ArticleIdList><ArticleId IdType="bookaccession">NBK1</ArticleId></ArticleIdList>
  <Book><Publisher><PublisherName>Clay Press</PublisherName></Publisher><BookTitle>The Kiln Book</BookTitle>
    <PubDate><Year>2009</Year><Month>02</Month></PubDate>
    <AuthorList><Author><LastName>Sample</LastName><Initials>B</Initials></Author></AuthorList></Book>
  <Language>ger</Language></BookDocument></PubmedBookArticle></PubmedArticleSet>"""
JATS = """<pmc-articleset><article article-type="correction"><front>
  <journal-meta><journal-title-group><journal-title>Journal of Kilns</journal-title></journal-title-group>
  </journal-meta>
  <article-meta><article-id pub-id-type="pmc">9</article-id><article-id pub-id-type="doi">10.5555/KILN.1</article-id>
    <title-group><article-title>Glazes in <italic>kilns</italic></article-title></title-group>
    <contrib-group><contrib contrib-type="author"><name><surname>Example</surname><given-names>Ada</given-names></name>
    </contrib><contrib contrib-type="editor"><name><surname>Sample</surname></name></contrib></contrib-group>
    <pub-date><year>2021</year></pub-date><fpage>12</fpage><lpage>34</lpage>
    <abstract><p>We fire glazes.</p></abstract></article-meta></front></article></pmc-articleset>"""
DBLP: dict[str, Any] = {
    "result": {
        "hits": {
            "@total": "103",
            "@first": "0",
            "hit": [
                {
                    "info": {
                        "authors": {"author": [{"@pid": "1/2-9", "text": "Ada Example 0009"}, "Bo Sample"]},
                        "title": "Glazes &amp; Kilns.",
                        "venue": ["KILN", "GLAZE"],
                        "volume": "3",
                        "number": "2",
                        "pages": "12-34",
                        "year": "2021",
                        "type": "Conference and Workshop Papers",
                        "key": "conf/kiln/ExampleS21",
                        "doi": "10.5555/KILN.1",
                        "ee": ["https://doi.org/10.5555/kiln.1", "http://arxiv.org/abs/2101.00001"],
                        "url": "https://dblp.org/rec/conf/kiln/ExampleS21",
                    }
                }
            ],
        }
    }
}
DBLP_XML = """<?xml version="1.0" encoding="UTF-8"?><result><hits total="6" computed="6" sent="1" first="0"><hit><info>
  <authors><author pid="1/2">Ada Example 0009</author><author>Bo Sample</author></authors>
  <title>Glazes and H<sub>2</sub>O.</title><venue>KILN</venue><year>2021</year><type>Journal Articles</type>
  <key>journals/kiln/ExampleS21</key><ee>https://doi.org/10.5555/kiln.1</ee></info></hit></hits></result>"""
SERPAPI: dict[str, Any] = {
    "search_metadata": {"status": "Success"},
    "search_information": {"total_results": 1230},
    "organic_results": [
        {
            "result_id": "dyZ4b",
            "title": "[PDF] Glazes and kilns",
            "link": "https://journals.example.org/doi/pdf/10.5555/KILN.1",
            "snippet": "… we fire glazes …",
            "publication_info": {
                "summary": "A Example, B Sample… - Journal of kilns, clay and …, 2021 - Clay Press",
                "authors": [{"name": "B Sample", "author_id": "b1"}],
            },
            "resources": [{"file_format": "PDF", "link": "https://files.example.org/1.pdf"}],
            "inline_links": {"cited_by": {"total": 7}},
        }
    ],
    "serpapi_pagination": {"next": "https://serpapi.com/search.json?start=20"},
}
SAMPLES: dict[str, list[dict[str, Any] | str]] = {
    "openalex": [OPENALEX],
    "crossref": [CROSSREF],
    "arxiv": [ARXIV],
    "semantic_scholar": [SEMANTIC_SCHOLAR],
    "europepmc": [EUROPEPMC, EUROPEPMC_XML],
    "pubmed": [ESEARCH, EFETCH, JATS],
    "dblp": [DBLP, DBLP_XML],
    "serpapi_scholar": [SERPAPI],
}
