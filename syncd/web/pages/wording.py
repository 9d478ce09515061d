"""The site's own words in the languages that syncd knows; English for the others."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur", "ps", "yi", "dv", "ckb", "ug", "sd"})
"""Languages that are written from right to left."""
_RIGHT_TO_LEFT_LETTER = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LETTER = re.compile("[^\\W\\d_]")
_NO_TEXT = re.compile("<pre\\b.*?</pre>|<code\\b.*?</code>|<[^>]*>", re.DOTALL)


@dataclass(frozen=True)
class PageWords:
    """What stands on a page beside its content."""

    skip: str = "Skip to content"
    search: str = "Search"
    search_hint: str = "Type to search this site"
    no_results: str = "Nothing found"
    contents: str = "Contents"
    all_pages: str = "All pages"
    more: str = "more pages"
    outline: str = "On this page"
    path: str = "You are here"
    previous: str = "Previous"
    next: str = "Next"
    edit: str = "Edit this page"
    last_change: str = "Last change"
    theme: str = "Switch between light and dark"
    menu: str = "Menu"
    copy: str = "Copy"
    copied: str = "Copied"
    not_found: str = "Page not found"
    not_found_text: str = "There is no page at this address."
    close: str = "Close"
    sections: str = "Sections"
    variants: str = "Variants"
    pages: str = "Pages before and after this one"
    footer: str = "Site"
    privacy: str = "Privacy"
    pdf: str = "PDF of this page"
    pdf_of_all: str = "PDF of all pages"
    pdf_of_site: str = "PDF of all sections"
    helpful: str = "Was this page helpful?"
    helpful_good: str = "Yes"
    helpful_ok: str = "Partly"
    helpful_bad: str = "No"
    thanks: str = "Thank you for your answer."
    ask: str = "Ask"
    sources: str = "Where this comes from"
    no_answer: str = "No page of this site answers this. A search for fewer words may find more."
    home: str = "Start page"
    search_for: str = "Search for “{words}”"
    """With the words of an address in its braces."""
    closed: str = "Nothing is here"
    closed_text: str = "Nothing is published at this address."
    closed_advice: str = "Check the address. If somebody gave it to you, ask them for the one that works now."
    sign_in: str = "This site is for people who are let in"
    sign_in_text: str = "Open it by the link that let you in before, or ask whoever runs the site for one."
    refused: str = "This link does not let you in"
    refused_text: str = "Its time is over, or it is none of this site. Ask whoever runs the site for a new one."
    busy: str = "The site is busy"
    busy_text: str = "It could not answer just now. Try again in a moment."
    failed: str = "This did not work"
    failed_text: str = "The page could not be shown. Go back, or try again later."
    form_text: str = "Your answer was not counted. Open the page again, and answer there."


WORDS: Mapping[str, PageWords] = {
    "en": PageWords(),
    "de": PageWords(
        *("Zum Inhalt springen", "Suchen", "Tippen, um diese Website zu durchsuchen", "Nichts gefunden", "Inhalt"),
        *("Alle Seiten", "weitere Seiten", "Auf dieser Seite", "Sie sind hier", "Zurück", "Weiter"),
        *("Diese Seite bearbeiten", "Letzte Änderung", "Zwischen hell und dunkel wechseln", "Menü", "Kopieren"),
        *("Kopiert", "Seite nicht gefunden", "Unter dieser Adresse gibt es keine Seite.", "Schließen", "Bereiche"),
        *("Varianten", "Seiten vor und nach dieser", "Website", "Datenschutz"),
        *("PDF dieser Seite", "PDF aller Seiten", "PDF aller Bereiche"),
        *("War diese Seite hilfreich?", "Ja", "Teilweise", "Nein"),
        *("Danke für Ihre Antwort.", "Fragen", "Woher das kommt"),
        "Keine Seite beantwortet das. Eine Suche nach weniger Wörtern findet vielleicht mehr.",
        *("Startseite", "Nach „{words}“ suchen"),
        *("Hier ist nichts", "Unter dieser Adresse ist nichts veröffentlicht."),
        "Prüfen Sie die Adresse. Wer sie Ihnen gab, weiß vielleicht, welche jetzt gilt.",
        "Diese Website ist für Menschen, die eingelassen werden",
        "Öffnen Sie sie mit dem Link von früher, oder bitten Sie die Betreiber der Website um einen.",
        "Dieser Link lässt Sie nicht ein",
        "Er ist abgelaufen oder gehört nicht zu dieser Website. Bitten Sie die Betreiber um einen neuen.",
        *("Die Website ist überlastet", "Sie konnte gerade nicht antworten. Versuchen Sie es gleich noch einmal."),
        *("Das ging nicht", "Die Seite konnte nicht gezeigt werden. Gehen Sie zurück, oder versuchen Sie es später."),
        "Ihre Antwort wurde nicht gezählt. Öffnen Sie die Seite noch einmal, und antworten Sie dort.",
    ),
    "es": PageWords(
        *("Saltar al contenido", "Buscar", "Escriba para buscar en este sitio", "No se encontró nada", "Contenido"),
        *("Todas las páginas", "páginas más", "En esta página", "Está aquí", "Anterior", "Siguiente"),
        *("Editar esta página", "Último cambio", "Cambiar entre claro y oscuro", "Menú", "Copiar"),
        *("Copiado", "Página no encontrada", "No hay ninguna página en esta dirección.", "Cerrar", "Secciones"),
        *("Variantes", "Páginas anterior y siguiente", "Sitio", "Privacidad"),
        *("PDF de esta página", "PDF de todas las páginas", "PDF de todas las secciones"),
        *("¿Le fue útil esta página?", "Sí", "En parte", "No"),
        *("Gracias por su respuesta.", "Preguntar", "De dónde viene"),
        "Ninguna página lo responde. Una búsqueda con menos palabras puede encontrar más.",
        *("Página de inicio", "Buscar «{words}»"),
        *("Aquí no hay nada", "No hay nada publicado en esta dirección."),
        "Compruebe la dirección. Si alguien se la dio, pregúntele cuál es la que vale ahora.",
        "Este sitio es para personas invitadas",
        "Ábralo con el enlace de antes, o pida uno a quien lleva el sitio.",
        "Este enlace no le deja entrar",
        "Ha caducado o no es de este sitio. Pida uno nuevo a quien lleva el sitio.",
        *("El sitio está ocupado", "No pudo responder ahora mismo. Inténtelo de nuevo dentro de un momento."),
        *("No ha funcionado", "No se pudo mostrar la página. Vuelva atrás o inténtelo más tarde."),
        "Su respuesta no se ha contado. Abra la página de nuevo y responda allí.",
    ),
    "fr": PageWords(
        *("Aller au contenu", "Rechercher", "Saisissez pour chercher sur ce site", "Aucun résultat", "Sommaire"),
        *("Toutes les pages", "autres pages", "Sur cette page", "Vous êtes ici", "Précédent", "Suivant"),
        *("Modifier cette page", "Dernière modification", "Basculer entre clair et sombre", "Menu", "Copier"),
        *("Copié", "Page introuvable", "Il n’y a pas de page à cette adresse.", "Fermer", "Sections"),
        *("Variantes", "Pages précédente et suivante", "Site", "Confidentialité"),
        *("PDF de cette page", "PDF de toutes les pages", "PDF de toutes les sections"),
        *("Cette page vous a-t-elle aidé ?", "Oui", "En partie", "Non"),
        *("Merci de votre réponse.", "Demander", "D’où cela vient"),
        "Aucune page n’y répond. Une recherche avec moins de mots en trouvera peut-être plus.",
        *("Page d’accueil", "Rechercher « {words} »"),
        *("Il n’y a rien ici", "Rien n’est publié à cette adresse."),
        "Vérifiez l’adresse. Si quelqu’un vous l’a donnée, demandez-lui celle qui vaut maintenant.",
        "Ce site est réservé aux personnes invitées",
        "Ouvrez-le avec le lien d’avant, ou demandez-en un à qui s’occupe du site.",
        "Ce lien ne vous laisse pas entrer",
        "Il a expiré ou n’est pas de ce site. Demandez-en un nouveau à qui s’occupe du site.",
        *("Le site est très occupé", "Il n’a pas pu répondre. Réessayez dans un instant."),
        *("Cela n’a pas marché", "La page n’a pas pu être affichée. Revenez en arrière ou réessayez plus tard."),
        "Votre réponse n’a pas été comptée. Rouvrez la page et répondez-y.",
    ),
}


def choose_language(accepted: str) -> str:
    """Return the language that a browser asks for and syncd knows, by its header `Accept-Language`; else `en`.

    Shape: the first known one counts: browsers name them in the order of what their reader likes best.
    """
    asked = (part.partition(";")[0].strip().partition("-")[0].lower() for part in accepted.split(","))
    return next((language for language in asked if language in WORDS), "en")


def find_words(locale: str) -> PageWords:
    """Return the words for a locale such as `de` or `de-AT`."""
    return WORDS.get(locale.partition("-")[0].lower(), WORDS["en"])


def is_right_to_left(locale: str) -> bool:
    """Return whether the language of a locale is written from right to left."""
    return locale.partition("-")[0].lower() in RIGHT_TO_LEFT


def find_text_direction(locale: str, text: Markup) -> str:
    """Return "rtl" where most letters of a page's HTML are written from right to left, else "ltr".

    A page without letters is written as its site's language is. Code counts for neither.
    """
    site = "rtl" if is_right_to_left(locale) else "ltr"
    if site == "ltr" and _RIGHT_TO_LEFT_LETTER.search(text) is None:
        return site
    letters = _LETTER.findall(_NO_TEXT.sub(" ", text))
    if not letters:
        return site
    count = sum(_RIGHT_TO_LEFT_LETTER.match(letter) is not None for letter in letters)
    return "rtl" if count * 2 > len(letters) else "ltr"
