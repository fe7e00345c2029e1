"""Networks small enough to run in every test, with the tokenizer they share.

Their weights are random, and scaled so that what they say is decided and varied: peaked distributions, changing words,
sentences that end early, late or not at all. Sizes that mean different things differ, so that a swapped axis fails.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    MarianConfig,
    MarianMTModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"  # ids 0, 1, 2

SENTENCES = (
    "Je t'aime.",
    "I love you.",
    "Où est la gare ?",
    "Where is the station?",
    "Le chat noir dort sur la table.",
    "The black cat is sleeping on the table.",
    "Nous avons mangé du pain et du fromage.",
    "We ate some bread and some cheese.",
    "Il pleut depuis ce matin.",
    "It has been raining since this morning.",
    "Ma sœur habite à Paris avec ses deux enfants.",
    "My sister lives in Paris with her two children.",
    "Quand pars-tu en vacances ?",
    "When are you going on holiday?",
    "Elle a oublié ses clés dans la voiture.",
    "She left her keys in the car.",
    "Ce livre est plus cher que l'autre.",
    "This book is more expensive than the other one.",
    "Je ne comprends pas la question.",
    "I do not understand the question.",
    "Les élèves écoutent leur professeur.",
    "The pupils listen to their teacher.",
    "Pouvez-vous m'aider, s'il vous plaît ?",
    "Can you help me, please?",
    "Mon père travaille dans un hôpital.",
    "My father works in a hospital.",
    "Demain, nous irons à la mer.",
    "Tomorrow we will go to the sea.",
    "Le train est arrivé en retard.",
    "The train arrived late.",
    "J'ai perdu mon parapluie rouge.",
    "I have lost my red umbrella.",
    "Cette maison a été construite par mon grand-père.",
    "This house was built by my grandfather.",
    "Fermez la fenêtre !",
    "Close the window!",
    "Tu parles trop vite pour moi.",
    "You speak too fast for me.",
    "Il n'y a plus de lait dans le réfrigérateur.",
    "There is no more milk in the refrigerator.",
)


@dataclass(frozen=True, slots=True)
class Model:
    """A network and its tokenizer, for functions that ask no more of a model."""

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-pair encoding trained on SENTENCES: pad 0, end 1, unknown 2; every text gets the end token."""
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=211, special_tokens=[PAD, END, UNKNOWN], show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, unk_token=UNKNOWN, clean_up_tokenization_spaces=False
    )


def tiny_t5(seed: int = 0) -> T5ForConditionalGeneration:
    """T5 with 3 + 2 layers of 5 heads (with more layers in the decoder than in the encoder, `generate` fails)."""
    config = T5Config(
        vocab_size=211,
        d_model=26,
        d_kv=7,
        d_ff=37,
        num_layers=3,
        num_decoder_layers=2,
        num_heads=5,
        relative_attention_num_buckets=12,
        relative_attention_max_distance=19,
        tie_word_embeddings=False,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        attn_implementation="eager",
    )
    network = T5ForConditionalGeneration(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.ndim == 2:
                parameter.normal_(0.0, 3 / parameter.shape[1] ** 0.5, generator=generator)
        network.lm_head.weight[1] *= 2.5  # the end comes when it likes
    return network


def tiny_marian(seed: int = 0) -> MarianMTModel:
    """Marian with 2 + 3 layers of 3 heads, its embeddings tied as in the published models."""
    config = MarianConfig(
        vocab_size=211,
        d_model=33,
        encoder_layers=2,
        decoder_layers=3,
        encoder_attention_heads=3,
        decoder_attention_heads=3,
        encoder_ffn_dim=37,
        decoder_ffn_dim=41,
        activation_function="swish",
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        max_position_embeddings=101,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
        forced_eos_token_id=None,
        decoder_start_token_id=0,
        attn_implementation="eager",
    )
    network = MarianMTModel(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.ndim == 2 and "embed_positions" not in name:
                if "q_proj" in name or "k_proj" in name:
                    gain = 1.2
                elif "shared" in name or "encoder_attn" in name:  # what is said depends on the source
                    gain = 1.0
                else:
                    gain = 0.6
                parameter.normal_(0.0, gain / parameter.shape[1] ** 0.5, generator=generator)
        last_norm = network.model.decoder.layers[-1].final_layer_norm
        last_norm.weight.normal_(0.0, 3.0, generator=generator)  # else tied embeddings say the same word for ever
        network.final_logits_bias[0, 1] = 7.0  # let it end now and then
    return network


def save_model(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write both as a model folder: safetensors and JSON files only."""
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
