import { pathOf, referenceChapter } from '../../docs/chapters.ts'
import { type AdjacentPages, anchorOf, escapeHtml, renderPage } from '../../docs/layout.ts'
import type { SearchEntry } from '../../docs/search-entry.ts'
import { idempotencyHeader } from '../idempotency/idempotent-call.ts'
import {
  curlOf,
  memberNames,
  parameterTable,
  prose,
  type ShownParameter,
  schemaTable,
  tryForm,
} from './reference-parts.ts'

/** The parts of the generated OpenAPI document that this page uses. */
export interface OpenApiDocument {
  readonly info: { readonly description: string }
  readonly tags: readonly ReferenceTag[]
  readonly paths: Readonly<
    Record<string, Readonly<Partial<Record<'get' | 'post', OperationEntry | RequestEntry>>>>
  >
  readonly components: {
    readonly parameters: Readonly<Record<string, { readonly description: string }>>
    readonly securitySchemes: Readonly<
      Record<string, { readonly name?: string; readonly description: string }>
    >
  }
}

interface ReferenceTag {
  readonly name: string
  readonly 'x-displayName': string
  readonly description: string
}

interface Entry {
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, unknown>>[]
}

interface OperationEntry extends Entry {
  readonly parameters?: readonly { readonly $ref: string }[]
  readonly requestBody: { readonly content: JsonContent }
  readonly responses: EntryResponses<JsonContent>
}

/** Requests that are not calls of an operation. */
interface RequestEntry extends Entry {
  readonly parameters: readonly ShownParameter[]
  readonly requestBody?: { readonly description: string; readonly content: object }
  readonly responses: EntryResponses<Readonly<Record<string, Content>>>
}

type EntryResponses<Done> = { readonly 200: { readonly content: Done } } & Readonly<
  Record<string, { readonly description: string }>
>

interface Content {
  readonly schema: object
  readonly examples: Readonly<Record<string, { readonly value: unknown }>>
}

interface JsonContent {
  readonly 'application/json': Content
}

/**
 * Returns the reference pages of the operations: one page for each tag, and one with the full list. The name is the path
 * of the file in the folder of the documentation, without its ending.
 */
export const referencePages = (
  document: OpenApiDocument,
): readonly { readonly name: string; readonly html: string }[] => [
  { name: referenceChapter.name, html: overview(document) },
  ...document.tags.map(({ name }) => ({
    name: `${referenceChapter.name}/${name}`,
    html: tagPage(document, name),
  })),
]

/** Returns the operations of a tag, in the order of the reference. */
const operationsOf = (
  { paths }: OpenApiDocument,
  tag: string,
): readonly (readonly [path: string, operation: OperationEntry])[] =>
  Object.entries(paths)
    .flatMap(([path, { post }]) => (post !== undefined && isOperation(post) ? [[path, post] as const] : []))
    .filter(([, { tags }]) => tags.includes(tag))
    .toSorted(([one], [other]) => compareOperations(one, other))

const isOperation = (entry: OperationEntry | RequestEntry): entry is OperationEntry =>
  entry.requestBody !== undefined && 'application/json' in entry.requestBody.content

/** Returns the requests of a tag that are not calls of operations, each with its method and path. */
const requestsOf = (
  { paths }: OpenApiDocument,
  tag: string,
): readonly (readonly [target: string, request: RequestEntry])[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, request]) =>
      !isOperation(request) && request.tags.includes(tag)
        ? [[`${method.toUpperCase()} ${path}`, request] as const]
        : [],
    ),
  )

const pathOfTag = (name: string): string => `${pathOf(referenceChapter)}/${name}`

function overview(document: OpenApiDocument): string {
  const sections = document.tags.map(({ name, 'x-displayName': title }) => ({ id: name, title }))
  const lists = document.tags.map(({ name, 'x-displayName': title, description }) => {
    const items = [...operationsOf(document, name), ...requestsOf(document, name)].map(
      ([path, { summary }]) =>
        `<li><a href="${pathOfTag(name)}#${anchorOf(path)}"><code>${path}</code></a> ${escapeHtml(summary)}</li>\n`,
    )
    return `<h2 id="${name}"><a href="${pathOfTag(name)}">${escapeHtml(title)}</a></h2>\n${prose(description)}<ul>\n${items.join('')}</ul>\n`
  })
  const more = `<p>Each operation has a form that sends a request to this server. The same description for programs: <a href="/openapi.json">OpenAPI 3.1</a>.</p>\n`
  const body = `<h1>API reference</h1>\n${prose(document.info.description)}${more}${lists.join('')}`
  return renderPage({ title: referenceChapter.title, chapter: referenceChapter, sections, body })
}

function tagPage(document: OpenApiDocument, tag: string): string {
  const operations = operationsOf(document, tag)
  const requests = requestsOf(document, tag)
  const sections = [...operations, ...requests].map(([path, { summary }]) => ({
    id: anchorOf(path),
    title: summary,
  }))
  const { 'x-displayName': title, description } = document.tags.find(
    ({ name }) => name === tag,
  ) as ReferenceTag
  const all = [
    ...operations.map(([path, operation]) => describe(document, path, operation)),
    ...requests.map(([target, request]) => describeRequest(document, target, request)),
  ].join('')
  const body = `<h1>${escapeHtml(title)}</h1>\n<p><a href="${pathOf(referenceChapter)}">All operations</a></p>\n${prose(description)}${all}`
  return renderPage({
    title: `${title}: API reference`,
    chapter: referenceChapter,
    sections,
    body,
    neighbors: tagsAround(document, tag),
  })
}

function tagsAround({ tags }: OpenApiDocument, tag: string): AdjacentPages {
  const all = tags.map(({ name, 'x-displayName': title }) => ({ path: pathOfTag(name), title }))
  const place = all.findIndex(({ path }) => path === pathOfTag(tag))
  return { before: all[place - 1], after: all[place + 1] }
}

function describe(document: OpenApiDocument, path: string, operation: OperationEntry): string {
  const { summary, description, requestBody, responses } = operation
  const request = requestBody.content['application/json']
  const answer = responses[200].content['application/json']
  return [
    heading(path, summary),
    `<p><code>POST ${path}</code></p>\n`,
    prose(description),
    example(curlOf(path, headerNames(document, operation), request.examples.done?.value)),
    tryForm({
      path,
      isChanging: operation.parameters !== undefined,
      credentials: credentialsOf(document, operation).map(([name, description]) => ({ name, description })),
      optional: operation.parameters === undefined ? [] : [idempotencyHeader],
      example: request.examples.done?.value,
    }),
    `<h3>Request</h3>\n${schemaTable(request.schema)}`,
    `<h3>Response</h3>\n${schemaTable(answer.schema)}`,
    example(JSON.stringify(answer.examples.done?.value, null, 2)),
    `<h3>Headers</h3>\n${headers(document, operation)}`,
    `<h3>Errors</h3>\n${errors(responses)}`,
  ].join('')
}

function heading(path: string, summary: string): string {
  const id = anchorOf(path)
  return `<h2 id="${id}">${escapeHtml(summary)} <a class="anchor" href="#${id}" aria-label="Link to this operation">#</a></h2>\n`
}

function describeRequest(document: OpenApiDocument, target: string, request: RequestEntry): string {
  const { summary, description, parameters, requestBody, responses } = request
  const [[type, { schema, examples }]] = Object.entries(responses[200].content) as [[string, Content]]
  const { value } = examples.done ?? {}
  return [
    heading(target, summary),
    `<p><code>${target}</code></p>\n`,
    prose(description),
    `<h3>Parameters</h3>\n${parameterTable(parameters)}`,
    ...(requestBody === undefined ? [] : [`<h3>Body</h3>\n${prose(requestBody.description)}`]),
    `<h3>Response</h3>\n<p><code>${type}</code></p>\n`,
    type === 'application/json' ? schemaTable(schema) : '',
    example(typeof value === 'string' ? value.trimEnd() : JSON.stringify(value, null, 2)),
    `<h3>Credentials</h3>\n<dl>\n${items(credentialsOf(document, request))}</dl>\n`,
    `<h3>Errors</h3>\n${errors(responses)}`,
  ].join('')
}

const example = (text: string): string => `<pre><code>${escapeHtml(text)}\n</code></pre>\n`

function schemesOf({ components }: OpenApiDocument, { security }: Entry) {
  return Object.entries(components.securitySchemes).filter(([name]) =>
    security.some((each) => Object.hasOwn(each, name)),
  )
}

/** Returns the header or parameter of each credential, and its description. */
const credentialsOf = (document: OpenApiDocument, entry: Entry): readonly (readonly [string, string])[] =>
  schemesOf(document, entry).map(
    ([, { name = 'authorization: Bearer', description }]) => [name, description] as const,
  )

const headerNames = (document: OpenApiDocument, operation: OperationEntry): readonly string[] =>
  credentialsOf(document, operation).map(([name]) => name)

function headers(document: OpenApiDocument, operation: OperationEntry): string {
  const others = (operation.parameters ?? []).map(({ $ref }) => {
    const parameter = document.components.parameters[$ref.slice($ref.lastIndexOf('/') + 1)]
    return [idempotencyHeader, parameter?.description ?? ''] as const
  })
  return `<dl>\n${items([...credentialsOf(document, operation), ...others])}</dl>\n`
}

const items = (list: readonly (readonly [name: string, description: string])[]): string =>
  list
    .map(([name, description]) => `<dt><code>${name}</code></dt>\n<dd>${prose(description)}</dd>\n`)
    .join('')

/**
 * Returns the HTML list of errors, by HTTP code. If a code has several statuses, its description has a
 * sentence for each status.
 */
function errors(responses: Readonly<Record<string, { readonly description: string }>>): string {
  const failures = Object.entries(responses).filter(([code]) => code !== '200')
  const items = failures.map(
    ([code, { description }]) => `<dt>${code}</dt>\n<dd>${prose(description)}</dd>\n`,
  )
  return `<dl class="errors">\n${items.join('')}</dl>\n`
}

/**
 * Last parts of paths, in the order in which users need them. Names that are not listed come after `update`.
 */
const firstNames = ['create', 'add', 'generate_token', 'list', 'get', 'query', 'update']
const lastNames = ['delete', 'remove', 'revoke_tokens']

const rankOf = (name: string): number => {
  if (firstNames.includes(name)) return firstNames.indexOf(name)
  return firstNames.length + (lastNames.includes(name) ? 1 + lastNames.indexOf(name) : 0)
}

/** Returns the two parts of a path without the version: the resource and the name of the operation. */
function partsOf(path: string): readonly [resource: string, name: string] {
  const end = path.lastIndexOf('/')
  return [path.slice(path.indexOf('/', 1), end), path.slice(end + 1)]
}

/** Compares the paths of two operations of the same tag. Sorts by resource, then by what users need first. */
function compareOperations(one: string, other: string): number {
  const [[resource, name], [otherResource, otherName]] = [partsOf(one), partsOf(other)]
  if (resource !== otherResource) return resource < otherResource ? -1 : 1
  const difference = rankOf(name) - rankOf(otherName)
  if (difference !== 0) return difference
  // The operation of the newer API version comes first.
  return one < other ? 1 : -1
}

/** Returns the search entries of the reference: one for each tag, operation and other request. */
export const referenceEntries = (document: OpenApiDocument): readonly SearchEntry[] =>
  document.tags.flatMap(({ name, 'x-displayName': page, description }) => [
    { path: pathOfTag(name), page: `API: ${page}`, section: '', text: withoutMarks(description) },
    ...operationsOf(document, name).map(([path, { summary, description, requestBody }]) => ({
      path: `${pathOfTag(name)}#${anchorOf(path)}`,
      page: `API: ${page}`,
      section: summary,
      operation: path,
      text: withoutMarks(
        [description, ...memberNames(requestBody.content['application/json'].schema)].join(' '),
      ),
    })),
    ...requestsOf(document, name).map(([target, { summary, description, parameters }]) => ({
      path: `${pathOfTag(name)}#${anchorOf(target)}`,
      page: `API: ${page}`,
      section: summary,
      operation: target,
      text: withoutMarks([description, ...parameters.map((each) => each.name)].join(' ')),
    })),
  ])

const withoutMarks = (text: string): string => text.replaceAll('`', '').replaceAll(/\s+/g, ' ')
