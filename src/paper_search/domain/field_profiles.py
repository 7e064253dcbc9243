"""Fields of research with their vocabularies and preferred sources, looked up by name."""

from collections.abc import Mapping
from dataclasses import dataclass

from paper_search.domain.intent.vocabulary import read_synonym_groups
from paper_search.errors import UnknownDomain
from uraniborg.kernel.language.messages import find_nearest_names, format_did_you_mean
from uraniborg.kernel.logging import make_printable


@dataclass(frozen=True, slots=True)
class Domain:
    """The vocabulary and preferred sources of one field of research."""

    name: str
    description: str
    synonyms: Mapping[str, tuple[str, ...]]
    """Terms with their other spellings."""
    priority_sources: tuple[str, ...]
    """Sources to search first, best first; the other sources follow in their order."""
    instructions: str
    """Instructions for a language model that reads or builds a query in this field."""


_GENERAL_SYNONYMS = {
    # machine learning and computing
    "machine learning": ("ML",),
    "deep learning": ("deep neural network",),
    "neural network": ("artificial neural network", "ANN"),
    "convolutional neural network": ("CNN", "ConvNet"),
    "recurrent neural network": ("RNN",),
    "long short-term memory": ("LSTM",),
    "graph neural network": ("GNN", "graph convolutional network"),
    "generative adversarial network": ("GAN",),
    "variational autoencoder": ("VAE",),
    "diffusion model": ("denoising diffusion", "score-based generative model"),
    "transformer": (),
    "vision transformer": ("ViT",),
    "large language model": ("LLM", "foundation language model"),
    "language model": (),
    "retrieval-augmented generation": ("RAG",),
    "chain of thought": ("CoT prompting",),
    "mixture of experts": ("MoE",),
    "in-context learning": ("few-shot prompting",),
    "reinforcement learning": ("RL",),
    "deep reinforcement learning": ("DRL",),
    "reinforcement learning from human feedback": ("RLHF",),
    "federated learning": (),
    "transfer learning": ("fine-tuning",),
    "self-supervised learning": ("self-supervision",),
    "active learning": (),
    "support vector machine": ("SVM",),
    "random forest": ("decision tree ensemble",),
    "principal component analysis": ("PCA",),
    "Bayesian optimization": ("Bayesian optimisation",),
    "Gaussian process": ("kriging",),
    "uncertainty quantification": ("uncertainty estimation",),
    "explainable AI": ("XAI", "interpretability", "explainability"),
    "natural language processing": ("NLP",),
    "named entity recognition": ("NER",),
    "machine translation": ("NMT",),
    "question answering": ("QA system",),
    "speech recognition": ("automatic speech recognition", "ASR"),
    "information retrieval": ("document retrieval",),
    "recommender system": ("recommendation system", "collaborative filtering"),
    "knowledge graph": ("knowledge base",),
    "computer vision": ("image understanding",),
    "object detection": ("object localization",),
    "image segmentation": ("semantic segmentation",),
    "simultaneous localization and mapping": ("SLAM",),
    "internet of things": ("IoT",),
    "anomaly detection": ("outlier detection",),
    "differential privacy": ("differentially private",),
    "P vs NP": ("P versus NP",),
    "quantum computing": ("quantum computation", "quantum computer"),
    "quantum error correction": ("quantum error-correcting code",),
    "partial differential equation": ("PDE",),
    "Monte Carlo": ("stochastic simulation",),
    "Markov chain Monte Carlo": ("MCMC",),
    "finite element method": ("FEM", "finite element analysis"),
    "computational fluid dynamics": ("CFD",),
    # life and health
    "randomized controlled trial": ("randomised controlled trial", "RCT", "randomized trial"),
    "electronic health record": ("EHR", "electronic medical record"),
    "quality of life": ("QoL",),
    "point of care": (),
    "clinical trial": (),
    "health care worker": ("healthcare worker", "health worker"),
    "mental health": (),
    "public health": (),
    "attention deficit hyperactivity disorder": ("ADHD",),
    "post-traumatic stress disorder": ("PTSD",),
    "autism spectrum disorder": ("ASD",),
    "chronic obstructive pulmonary disease": ("COPD",),
    "type 1 diabetes": ("T1D", "type 1 diabetes mellitus"),
    "type 2 diabetes": ("T2D", "type 2 diabetes mellitus"),
    "in vitro fertilization": ("in vitro fertilisation", "IVF"),
    "in vitro": (),
    "in vivo": (),
    "in silico": (),
    "ex vivo": (),
    "de novo": (),
    "in situ": (),
    "magnetic resonance imaging": ("MRI",),
    "computed tomography": ("CT scan",),
    "electroencephalography": ("EEG", "electroencephalogram"),
    "cancer": ("tumor", "tumour", "neoplasm"),
    "heart attack": ("myocardial infarction",),
    "high blood pressure": ("hypertension",),
    "Down syndrome": ("trisomy 21",),
    "COVID-19": ("SARS-CoV-2", "coronavirus disease 2019"),
    "genome-wide association study": ("GWAS",),
    "single-cell RNA sequencing": ("scRNA-seq", "single-cell transcriptomics"),
    "CRISPR": ("genome editing", "gene editing"),
    "gut microbiome": ("gut microbiota", "intestinal microbiota"),
    "protein structure prediction": ("protein folding",),
    "drug discovery": ("drug design",),
    # earth, energy and society
    "climate change": ("global warming",),
    "urban heat island": ("UHI",),
    "green roof": (),
    "greenhouse gas": ("GHG",),
    "carbon capture": ("CO2 capture", "carbon dioxide capture"),
    "life cycle assessment": ("LCA", "life cycle analysis"),
    "remote sensing": ("satellite imagery",),
    "renewable energy": ("clean energy",),
    "solar cell": ("photovoltaic",),
    "lithium-ion battery": ("Li-ion battery", "LIB"),
    "electric vehicle": ("EV",),
    "dark matter": (),
    "gravitational wave": ("gravitational radiation",),
    "theory of mind": ("mentalizing",),
    "social media": ("online social network",),
    "working memory": (),
}

GENERAL = Domain(
    name="general",
    description="Research of any field.",
    synonyms={**read_synonym_groups(), **_GENERAL_SYNONYMS},
    priority_sources=("openalex", "semantic_scholar", "crossref", "arxiv", "europepmc", "pubmed", "dblp"),
    instructions="Name the subject, the method and the setting as separate concepts, each in the words papers use.",
)


_MATERIALS_SYNONYMS = {
    "perovskite solar cell": ("PSC", "halide perovskite photovoltaic"),
    "metal halide perovskite": ("lead halide perovskite", "organic-inorganic perovskite"),
    "solid-state electrolyte": ("solid electrolyte", "superionic conductor"),
    "solid-state battery": ("all-solid-state battery", "ASSB"),
    "lithium iron phosphate": ("LFP", "LiFePO4"),
    "sodium-ion battery": ("Na-ion battery",),
    "metal-organic framework": ("MOF", "porous coordination polymer"),
    "covalent organic framework": ("COF",),
    "high-entropy alloy": ("HEA", "multi-principal element alloy"),
    "shape memory alloy": ("SMA",),
    "bulk metallic glass": ("BMG", "amorphous alloy"),
    "two-dimensional material": ("2D material", "van der Waals material"),
    "transition metal dichalcogenide": ("TMD", "TMDC"),
    "carbon nanotube": ("CNT",),
    "reduced graphene oxide": ("rGO",),
    "quantum dot": ("semiconductor nanocrystal",),
    "MXene": (),
    "superconductor": ("superconductivity", "superconducting"),
    "topological insulator": ("topological material",),
    "thermoelectric": ("thermoelectricity",),
    "ferroelectric": ("ferroelectricity",),
    "titanium dioxide": ("TiO2", "titania"),
    "zinc oxide": ("ZnO",),
    "silicon carbide": ("SiC",),
    "gallium nitride": ("GaN",),
    # Elsewhere also GAN, which here is a semiconductor.
    "generative adversarial network": (),
    "band gap": ("bandgap",),
    "density of states": ("DOS",),
    "power conversion efficiency": ("PCE",),
    "oxygen evolution reaction": ("OER",),
    "hydrogen evolution reaction": ("HER",),
    "oxygen reduction reaction": ("ORR",),
    "CO2 reduction": ("carbon dioxide reduction", "CO2RR"),
    "ionic conductivity": ("ion transport", "ion conduction"),
    "mechanical property": ("mechanical behaviour", "mechanical behavior"),
    "density functional theory": ("DFT", "first-principles calculation", "ab initio"),
    "molecular dynamics": ("MD simulation",),
    "machine learning interatomic potential": ("MLIP", "neural network potential", "machine-learned force field"),
    "high-throughput screening": ("computational screening", "materials screening"),
    "materials informatics": ("materials genome",),
    "crystal structure prediction": ("CSP",),
    "phase diagram": ("phase equilibria",),
    "X-ray diffraction": ("XRD",),
    "transmission electron microscopy": ("TEM",),
    "scanning electron microscopy": ("SEM",),
    "X-ray photoelectron spectroscopy": ("XPS",),
    "Raman spectroscopy": ("Raman scattering",),
    "chemical vapor deposition": ("chemical vapour deposition", "CVD"),
    "atomic layer deposition": ("ALD",),
    "physical vapor deposition": ("physical vapour deposition", "PVD"),
    "molecular beam epitaxy": ("MBE",),
    "sol-gel": (),
    "additive manufacturing": ("3D printing",),
    "spark plasma sintering": ("SPS",),
    "thin film": (),
    "grain boundary": (),
}

MATERIALS_SCIENCE = Domain(
    name="materials_science",
    description="Materials science: what materials are made of, how they are made, what they do and why.",
    synonyms={**GENERAL.synonyms, **_MATERIALS_SYNONYMS},
    priority_sources=("openalex", "crossref", "semantic_scholar", "arxiv"),
    instructions=(
        "Keep chemical formulas and their names as synonyms of each other (TiO2, titanium dioxide). Tell apart "
        "material, property, process, structure, characterisation, simulation and application; a good query names the "
        "material and one or two of the others. Expand acronyms that other fields use differently (SEM, PSC, HER)."
    ),
)


_DOMAINS = {domain.name: domain for domain in (GENERAL, MATERIALS_SCIENCE)}


def list_domains() -> list[str]:
    return list(_DOMAINS)


def get_domain(name: str) -> Domain:
    """Return the domain with this name, ignoring case, spaces and hyphens. Raise UnknownDomain for an unknown name."""
    asked = "_".join(name.casefold().replace("-", " ").replace("_", " ").split())
    if domain := _DOMAINS.get(asked):
        return domain
    known = ", ".join(_DOMAINS)
    meant = format_did_you_mean(find_nearest_names(asked, _DOMAINS)[:1])
    shown = make_printable(name[:80])
    raise UnknownDomain(
        f"Unknown domain '{shown}'. Known domains: {known}.",
        hint=f"{meant}Use one of: {known}.",
        domain=shown,
        allowed=list(_DOMAINS),
    )
