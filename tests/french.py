"""French sentences for tests, as many as wanted: put together from a few parts, some of them nonsense."""

import itertools
import random

SUBJECTS = (
    "Je",
    "Ma sœur",
    "Le vieux professeur",
    "Notre chat",
    "Les enfants de Paris",
    "L'avocate",
    "Personne ne",
    "On",
)
VERBS = ("mange", "regarde", "a oublié", "n'aime pas", "cherche", "achètera", "comprend", "est")
OBJECTS = (
    "une pomme",
    "la mer",
    "son parapluie rouge",
    "l'hôpital",
    "cette question",
    "deux livres",
    "le train",
    "ici",
)
TIMES = ("", " demain", " ce matin", " depuis longtemps", " avant qu'il pleuve", ", n'est-ce pas")
ENDS = (".", " !", " ?", "")
ODD = (
    "Oui.",
    "…",
    "1984",
    "où",
    "«Non !»",
    "AU SECOURS !!!",
    "l'l'l'",
    "Ça va 😀 ?",
    "مرحبا",
    "a" * 40,
    "<b>Le chat</b>",
)


def french_sentences(count: int) -> list[str]:
    """Return `count` different sentences, the odd ones first; the same ones every time."""
    parts = list(itertools.product(SUBJECTS, VERBS, OBJECTS, TIMES, ENDS))
    random.Random(0).shuffle(parts)
    made = (f"{subject} {verb} {thing}{time}{end}" for subject, verb, thing, time, end in parts)
    return list(itertools.islice(itertools.chain(ODD, made), count))
