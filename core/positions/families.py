"""Which pairing the code of well-known models uses, as transformers has it (5.24)."""

from collections.abc import Mapping

from core.positions.pairing import Pairing

FAMILIES: Mapping[str, Pairing] = {
    "llama": Pairing.HALF_SPLIT,
    "mistral": Pairing.HALF_SPLIT,
    "qwen2": Pairing.HALF_SPLIT,
    "qwen3": Pairing.HALF_SPLIT,
    "gemma2": Pairing.HALF_SPLIT,
    "phi3": Pairing.HALF_SPLIT,
    "gpt_neox": Pairing.HALF_SPLIT,
    "roformer": Pairing.INTERLEAVED,
    "gptj": Pairing.INTERLEAVED,
    "cohere": Pairing.INTERLEAVED,
    "glm4": Pairing.INTERLEAVED,
    "ernie4_5": Pairing.INTERLEAVED,
    "deepseek_v2": Pairing.INTERLEAVED,
    "llama4": Pairing.INTERLEAVED,
}
"""By the family's name in transformers.

Meta's own code for Llama is interleaved (github.com/meta-llama/llama, llama/model.py); the weights' rows are reordered
when they are converted for transformers (its convert_llama_weights_to_hf.py, `permute`).
"""
