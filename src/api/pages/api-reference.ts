import { references } from '../../docs/chapters.ts'
import { anchorOf, escapeHtml, renderPage } from '../../docs/layout.ts'
import { lazyPage } from './docs-pages.ts'
import type { PageRoute } from './page-route.ts'
import { curlOf, prose, schemaTable } from './reference-parts.ts'

/** The parts of the generated OpenAPI document that this page uses. */
export interface OpenApiDocument {
  readonly info: { readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, { readonly post: Described }>>
  readonly components: {
    readonly parameters: Readonly<Record<string, { readonly description: string }>>
    readonly securitySchemes: Readonly<
      Record<string, { readonly name: string; readonly description: string }>
    >
  }
}

interface Described {
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly [Readonly<Record<string, unknown>>]
  readonly parameters?: readonly { readonly $ref: string }[]
  readonly requestBody: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: Content }>>
}

interface Content {
  readonly 'application/json': {
    readonly schema: object
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
  }
}

const chapter = references[0] as (typeof references)[number]

/** The reference pages of the operations: one for each tag, and one with the full list. */
export const apiReferencePages = (
  tags: readonly string[],
  document: () => OpenApiDocument,
): readonly PageRoute[] => [
  lazyPage('/docs/reference', () => overview(document())),
  ...tags.map((tag) => lazyPage(`/docs/reference/${tag}`, () => tagPage(document(), tag))),
]

const operationsOf = ({ paths }: OpenApiDocument, tag: string): readonly (readonly [string, Described])[] =>
  Object.entries(paths)
    .map(([path, { post }]) => [path, post] as const)
    .filter(([, { tags }]) => tags.includes(tag))

function overview(document: OpenApiDocument): string {
  const sections = document.tags.map(({ name }) => ({ id: name, title: name }))
  const lists = document.tags.map(({ name, description }) => {
    const items = operationsOf(document, name).map(
      ([path, { summary }]) =>
        `<li><a href="/docs/reference/${name}#${anchorOf(path)}"><code>${path}</code></a> ${escapeHtml(summary)}</li>\n`,
    )
    return `<h2 id="${name}"><a href="/docs/reference/${name}">${name}</a></h2>\n${prose(description)}<ul>\n${items.join('')}</ul>\n`
  })
  const more = `<p>The same for machines: <a href="/openapi.json">OpenAPI 3.1</a>. With keys at hand, <a href="/docs/api">try it</a>.</p>\n`
  const body = `<h1>API reference</h1>\n${prose(document.info.description)}${more}${lists.join('')}`
  return renderPage({ title: chapter.title, chapter, sections, body })
}

function tagPage(document: OpenApiDocument, tag: string): string {
  const operations = operationsOf(document, tag)
  const sections = operations.map(([path, { summary }]) => ({ id: anchorOf(path), title: summary }))
  const description = document.tags.find(({ name }) => name === tag)?.description ?? ''
  const all = operations.map(([path, operation]) => describe(document, path, operation)).join('')
  const body = `<h1>${tag}</h1>\n<p><a href="/docs/reference">All operations</a></p>\n${prose(description)}${all}`
  return renderPage({ title: `${tag}: API reference`, chapter, sections, body })
}

function describe(document: OpenApiDocument, path: string, operation: Described): string {
  const { summary, description, requestBody, responses } = operation
  const request = requestBody.content['application/json']
  const answer = (responses[200] as Described['responses'][string]).content['application/json']
  const id = anchorOf(path)
  return [
    `<h2 id="${id}">${escapeHtml(summary)} <a class="anchor" href="#${id}" aria-label="Link to this operation">#</a></h2>\n`,
    `<p><code>POST ${path}</code></p>\n`,
    prose(description),
    `<h3>Headers</h3>\n${headers(document, operation)}`,
    `<h3>Request</h3>\n${schemaTable(request.schema)}`,
    example(curlOf(path, headerNames(document, operation), request.examples.done?.value)),
    `<h3>Answer</h3>\n${schemaTable(answer.schema)}`,
    example(JSON.stringify(answer.examples.done?.value, null, 2)),
    `<h3>Errors</h3>\n${errors(responses)}`,
  ].join('')
}

const example = (text: string): string => `<pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre>\n`

function schemesOf({ components }: OpenApiDocument, { security }: Described) {
  return Object.entries(components.securitySchemes).filter(([name]) => Object.hasOwn(security[0], name))
}

const headerNames = (document: OpenApiDocument, operation: Described): readonly string[] =>
  schemesOf(document, operation).map(([, { name }]) => name)

function headers(document: OpenApiDocument, operation: Described): string {
  const credentials = schemesOf(document, operation).map(([, { name, description }]) => [name, description])
  const others = (operation.parameters ?? []).map(({ $ref }) => [
    'idempotency-key',
    document.components.parameters[$ref.split('/').at(-1) as string]?.description ?? '',
  ])
  const items = [...credentials, ...others].map(
    ([name, description]) => `<dt><code>${name}</code></dt>\n<dd>${prose(description as string)}</dd>\n`,
  )
  return `<dl>\n${items.join('')}</dl>\n`
}

/** One HTTP code can have several statuses: each gets a sentence. */
function errors(responses: Described['responses']): string {
  const failures = Object.entries(responses).filter(([code]) => code !== '200')
  const items = failures.map(
    ([code, { description }]) => `<dt>${code}</dt>\n<dd>${prose(description)}</dd>\n`,
  )
  return `<dl class="errors">\n${items.join('')}</dl>\n`
}
