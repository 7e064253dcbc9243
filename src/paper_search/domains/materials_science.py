"""The vocabulary of materials science: compounds, properties, processes, characterisation and simulation."""

from paper_search.domains.base import Domain
from paper_search.domains.general import GENERAL

_SYNONYMS = {
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
    synonyms={**GENERAL.synonyms, **_SYNONYMS},
    priority_sources=("openalex", "crossref", "semantic_scholar", "arxiv"),
    instructions=(
        "Keep chemical formulas and their names as synonyms of each other (TiO2, titanium dioxide). Tell apart "
        "material, property, process, structure, characterisation, simulation and application; a good query names the "
        "material and one or two of the others. Expand acronyms that other fields use differently (SEM, PSC, HER)."
    ),
)
