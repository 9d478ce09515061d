"""A site file that uses every part of the format, and the redirect file that it names."""

SITE_FILE = """\
# yaml-language-server: $schema=.syncd/schema/site-v1.json
version: 1
site: { org: org_lumen, id: site_8fQ }

policy:
  on_drift:  { redirects: revert, structure: report, customization: report, visitors: report }
  prune:     { redirects: owned, structure: never }
  limits:
    redirects: { max_delete: 10, max_delete_pct: 20, max_update_pct: 30 }
    structure: { max_delete: 0 }

spaces:                                   # the only place with ids of spaces
  start-en:   spc0000000000000start
  wallet-en:  spc000000000000wallet
  wallet-fr:  spc00000000000walletf
  ident-en:   spc00000000000000iden
  api-v3:     spc0000000000000apiv3
  api-v2:     spc0000000000000apiv2
  api-v1:     spc0000000000000apiv1
  allies-en:  spc000000000000allies
  empty:      spc0000000000000empty     # stands in while a gated section is being made

settings:
  title: Lumen Docs
  visibility: public
  adaptive_content: true
  agents_context: included

visitors:
  claims:
    ally:    { type: boolean, description: Signed in as an ally. }
  unsigned:
    beta:    { type: boolean, description: Asked for the beta docs. }

structure:
  holding_space: empty
  items:
    - section: start
      title: Start
      path: start
      icon: house
      default: true
      variants:
        - { variant: en, space: start-en, path: docs, default: true }
    - group: products
      title: Products
      icon: angles-up
      items:
        - section: wallet
          title: Wallet
          path: wallet
          icon: credit-card
          description: Pay once or every month.
          variants:
            - { variant: en, space: wallet-en, path: en, default: true }
            - { variant: fr, space: wallet-fr, path: fr }
        - section: identity
          title: Identity
          path: identity
          icon: id-card
          variants:
            - { variant: en, space: ident-en, path: en, default: true }
    - section: developers
      title: Developers
      path: developers
      was: [api]                          # a former path: the id stays
      icon: code
      variants:
        - { variant: v3, space: api-v3, path: v3-beta, condition: visitor.claims.unsigned.beta == true } # syncd: ignore SY202
        - { variant: v2, space: api-v2, path: v2, default: true }
        - { variant: v1, space: api-v1, path: v1, hidden: true }
    - section: allies
      title: Allies
      path: allies
      icon: handshake-angle
      condition: visitor.claims.ally == true
      protect: true
      variants:
        - { variant: en, space: allies-en, path: en, default: true }

redirects:
  - { from: /api,                   to: { section: developers } }
  - { from: [/api/v1, /legacy-api], to: { variant: developers/v1 } }
  - { from: /wallet/quick-start,    to: { page: getting-started/quickstart, in: wallet/en } }
  - { from: /status,                to: { url: "https://status.lumen.example" }, note: "DOC-412" }
redirect_files: [redirects/2025-move.csv]

absent:
  redirects: [/beta-program]

customization:
  site:
    styling: { theme: clean, primaryColor: { light: "#534AB7", dark: "#B2A5FF" } }
    announcement: { enabled: true, style: info, message: The v1 API ends on 1 March }
    header:
      links:
        - { title: Changelog, style: link, to: { page: changelog, in: start/en } }
        - { title: For allies, style: button-primary, condition: visitor.claims.ally == true, to: { raw: { kind: url, url: "https://allies.lumen.example" } } }
    pdf: { enabled: false }
  overrides:
    developers/v1:
      announcement: { enabled: true, style: warning, message: These are the docs of v1 }
      title: null
    wallet/fr: reset
"""  # noqa: E501

OTHERS = {
    "docs/redirects/2025-move.csv": (
        "source,destination,note\n"
        "/2025/intro,page:intro@start/en,\n"
        '/2025/faq,"https://help.lumen.example/faq?a=1,2",asked often\n'
        "/2025/pay,section:wallet\n"
    )
}
PATH = "docs/site.yaml"
