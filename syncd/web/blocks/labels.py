"""The words that blocks say themselves, in one place, so that a site can have them in its own language."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class BlockLabels:
    """The words of blocks; a text with `{…}` is filled by `str.format`."""

    info: str = "Note"
    success: str = "Tip"
    warning: str = "Warning"
    danger: str = "Danger"
    tabs: str = "Tabs"
    tab: str = "Tab {number}"
    step: str = "Step {number}"
    more: str = "More"
    link_to_heading: str = "Link to “{title}”"
    unknown: str = "This part of the page has a type that is not known here ({type}); these are its words:"
    no_link: str = "This link leads nowhere."
    nested: str = "This part of the page is nested too deep to be shown as it is; these are its words:"
    done: str = "Done"
    block_added: str = "Added"
    block_removed: str = "Removed"
    block_changed: str = "Changed"
    open: str = "To do"
    code: str = "Code"
    added: str = "added"
    removed: str = "removed"
    formula: str = "Formula that could not be set"
    diagram: str = "Diagram, as its source"
    picture: str = "Diagram"
    embed: str = "Open {host}"
    file: str = "Download {name}"
    drawing: str = "Drawing"
    missing_image: str = "Image"
    foreign_picture: str = "Picture from {host}"
    rating: str = "{value} of {most}"
    yes: str = "Yes"
    no: str = "No"
    footnotes: str = "Footnotes"
    footnote: str = "Footnote {number}"
    back: str = "Back to the text"
    condition: str = "Shown only to readers for whom this is true:"
    integration: str = "Block of the integration “{name}”, which is not shown here"
    missing_content: str = "This content is not there."
    missing_operation: str = "The description of this API is not there, or does not have this:"
    authorization: str = "Authorization"
    no_authorization: str = "none"
    or_else: str = "or"
    path_parameters: str = "Path parameters"
    query_parameters: str = "Query parameters"
    header_parameters: str = "Header parameters"
    cookie_parameters: str = "Cookie parameters"
    form_parameters: str = "Form parameters"
    body: str = "Body"
    responses: str = "Responses"
    example: str = "Example"
    deprecated: str = "deprecated"
    prompt: str = "Prompt"
    updates: str = "Updates"
    mention: str = "Mention"


_LABELS: Mapping[str, BlockLabels] = {
    "de": BlockLabels(
        info="Hinweis",
        success="Tipp",
        warning="Warnung",
        danger="Gefahr",
        tabs="Reiter",
        tab="Reiter {number}",
        step="Schritt {number}",
        more="Mehr",
        link_to_heading="Link zu „{title}“",
        unknown="Dieser Teil der Seite ist von einer Art, die hier nicht bekannt ist ({type}); das sind seine Worte:",
        no_link="Dieser Link führt nirgendwohin.",
        nested="Dieser Teil der Seite ist zu tief verschachtelt, um so gezeigt zu werden; das sind seine Worte:",
        done="Erledigt",
        block_added="Hinzugefügt",
        block_removed="Entfernt",
        block_changed="Geändert",
        open="Zu tun",
        code="Code",
        added="hinzugefügt",
        removed="entfernt",
        formula="Formel, die nicht gesetzt werden konnte",
        diagram="Diagramm als Quelltext",
        picture="Diagramm",
        embed="{host} öffnen",
        file="{name} herunterladen",
        drawing="Zeichnung",
        missing_image="Bild",
        foreign_picture="Bild von {host}",
        rating="{value} von {most}",
        yes="Ja",
        no="Nein",
        footnotes="Fußnoten",
        footnote="Fußnote {number}",
        back="Zurück zum Text",
        condition="Nur für Leser, für die das gilt:",
        integration="Block der Integration „{name}“, der hier nicht gezeigt wird",
        missing_content="Dieser Inhalt ist nicht da.",
        missing_operation="Die Beschreibung dieser API ist nicht da oder hat dies nicht:",
        authorization="Autorisierung",
        no_authorization="keine",
        or_else="oder",
        path_parameters="Pfadparameter",
        query_parameters="Query-Parameter",
        header_parameters="Header-Parameter",
        cookie_parameters="Cookie-Parameter",
        form_parameters="Formularparameter",
        body="Body",
        responses="Antworten",
        example="Beispiel",
        deprecated="veraltet",
        prompt="Prompt",
        updates="Neuigkeiten",
        mention="Erwähnung",
    ),
    "es": BlockLabels(
        info="Nota",
        success="Consejo",
        warning="Advertencia",
        danger="Peligro",
        tabs="Pestañas",
        tab="Pestaña {number}",
        step="Paso {number}",
        more="Más",
        link_to_heading="Enlace a «{title}»",
        unknown="Esta parte de la página es de un tipo que aquí no se conoce ({type}); estas son sus palabras:",
        no_link="Este enlace no lleva a ninguna parte.",
        nested="Esta parte de la página está anidada demasiado hondo para mostrarla así; estas son sus palabras:",
        done="Hecho",
        block_added="Añadido",
        block_removed="Eliminado",
        block_changed="Cambiado",
        open="Por hacer",
        code="Código",
        added="añadido",
        removed="eliminado",
        formula="Fórmula que no se pudo componer",
        diagram="Diagrama, como su código",
        picture="Diagrama",
        embed="Abrir {host}",
        file="Descargar {name}",
        drawing="Dibujo",
        missing_image="Imagen",
        foreign_picture="Imagen de {host}",
        rating="{value} de {most}",
        yes="Sí",
        no="No",
        footnotes="Notas al pie",
        footnote="Nota al pie {number}",
        back="Volver al texto",
        condition="Solo para lectores para los que esto se cumple:",
        integration="Bloque de la integración «{name}», que aquí no se muestra",
        missing_content="Este contenido no está.",
        missing_operation="La descripción de esta API no está, o no tiene esto:",
        authorization="Autorización",
        no_authorization="ninguna",
        or_else="o",
        path_parameters="Parámetros de ruta",
        query_parameters="Parámetros de consulta",
        header_parameters="Parámetros de cabecera",
        cookie_parameters="Parámetros de cookie",
        form_parameters="Parámetros de formulario",
        body="Cuerpo",
        responses="Respuestas",
        example="Ejemplo",
        deprecated="obsoleto",
        prompt="Prompt",
        updates="Novedades",
        mention="Mención",
    ),
    "fr": BlockLabels(
        info="Remarque",
        success="Conseil",
        warning="Avertissement",
        danger="Danger",
        tabs="Onglets",
        tab="Onglet {number}",
        step="Étape {number}",
        more="Plus",
        link_to_heading="Lien vers « {title} »",
        unknown="Cette partie de la page est d’un type qui n’est pas connu ici ({type}) ; voici ses mots :",
        no_link="Ce lien ne mène nulle part.",
        nested="Cette partie de la page est imbriquée trop profondément pour être montrée ainsi ; voici ses mots :",
        done="Fait",
        block_added="Ajouté",
        block_removed="Supprimé",
        block_changed="Modifié",
        open="À faire",
        code="Code",
        added="ajouté",
        removed="supprimé",
        formula="Formule qui n’a pas pu être composée",
        diagram="Diagramme, en code source",
        picture="Diagramme",
        embed="Ouvrir {host}",
        file="Télécharger {name}",
        drawing="Dessin",
        missing_image="Image",
        foreign_picture="Image de {host}",
        rating="{value} sur {most}",
        yes="Oui",
        no="Non",
        footnotes="Notes",
        footnote="Note {number}",
        back="Retour au texte",
        condition="Seulement pour les lecteurs pour qui ceci est vrai :",
        integration="Bloc de l’intégration « {name} », qui n’est pas montré ici",
        missing_content="Ce contenu n’est pas là.",
        missing_operation="La description de cette API n’est pas là, ou n’a pas ceci :",
        authorization="Autorisation",
        no_authorization="aucune",
        or_else="ou",
        path_parameters="Paramètres de chemin",
        query_parameters="Paramètres de requête",
        header_parameters="Paramètres d’en-tête",
        cookie_parameters="Paramètres de cookie",
        form_parameters="Paramètres de formulaire",
        body="Corps",
        responses="Réponses",
        example="Exemple",
        deprecated="obsolète",
        prompt="Prompt",
        updates="Nouveautés",
        mention="Mention",
    ),
}


def find_block_labels(locale: str) -> BlockLabels:
    """Return the words of blocks for a locale such as `de` or `de-AT`; English where they are in no other language."""
    return _LABELS.get(locale.partition("-")[0].lower(), BlockLabels())
