"""Encoders and a decoder small enough to run in every test, with their tokenizers; random, with sizes that differ."""

from typing import TypeVar

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from tests.tiny import SENTENCES

N = TypeVar("N", bound=PreTrainedModel)
FRAME = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]  # ids 0 to 4
END = "<|endoftext|>"  # id 0
BOTH = (*SENTENCES, "The cat sat on the mat.", "银行在河边。", "小明说他来。")


def word_pieces(vocab_size: int = 307) -> PreTrainedTokenizerFast:
    """Lower-case word pieces between [CLS] and [SEP], as BERT has them."""
    letters = sorted({letter for text in BOTH for letter in text.lower() if not letter.isspace()})
    words = sorted({word for text in BOTH for word in text.lower().replace(".", "").split()})
    pieces = [*FRAME, *letters, *(f"##{letter}" for letter in letters), *words]
    vocab = {piece: number for number, piece in enumerate(dict.fromkeys(pieces)) if number < vocab_size}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=17)  # left over from training, as in the published MiniLM
    tokenizer.enable_truncation(17)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip


def byte_pairs() -> PreTrainedTokenizerFast:
    """Pairs of bytes, and nothing around a text, as GPT-2 has them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=331,
        special_tokens=[END],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(BOTH, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, bos_token=END)


def bert(*, pooled: bool = True, vocab_size: int = 307) -> BertModel:
    """2 layers of 3 heads."""
    config = BertConfig(
        vocab_size=vocab_size,
        hidden_size=33,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=41,
        max_position_embeddings=157,
        attn_implementation="eager",
    )
    return _scaled(BertModel(config, add_pooling_layer=pooled))


def distilbert() -> DistilBertModel:
    """3 layers of 2 heads."""
    config = DistilBertConfig(
        vocab_size=307,
        dim=34,
        n_layers=3,
        n_heads=2,
        hidden_dim=43,
        max_position_embeddings=149,
        attn_implementation="eager",
    )
    return _scaled(DistilBertModel(config))


def gpt2() -> GPT2LMHeadModel:
    """2 layers of 5 heads."""
    config = GPT2Config(
        vocab_size=331,
        n_embd=35,
        n_layer=2,
        n_head=5,
        n_inner=37,
        n_positions=151,
        eos_token_id=0,
        bos_token_id=0,
        attn_implementation="eager",
    )
    return _scaled(GPT2LMHeadModel(config))


def _scaled(network: N) -> N:
    """Weights large enough that attention is not uniform."""
    generator = torch.Generator().manual_seed(0)
    network.eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.ndim == 2:
                parameter.normal_(0.0, 1.5 / parameter.shape[1] ** 0.5, generator=generator)
            elif name.endswith("bias"):
                parameter.normal_(0.0, 0.1, generator=generator)
    return network
