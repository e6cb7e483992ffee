import { escapeHtml } from '../../docs/layout.ts'

/** The parts of an OpenAPI schema that the reference shows. */
interface Shown {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, Shown>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Shown | false
  readonly items?: Shown
  readonly anyOf?: readonly Shown[]
}

/** Returns the HTML of a description: plain text with code in backticks. */
export const prose = (text: string): string =>
  text
    .split('\n\n')
    .map((paragraph) => `<p>${inline(paragraph)}</p>\n`)
    .join('')

const inline = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

/** Returns a table of the members of a body, including nested ones, with one row for each member. */
export function schemaTable(schema: object): string {
  const rows = membersOf(schema as Shown, '').map(({ path, schema: member, isRequired }) =>
    row(path, member, isRequired),
  )
  return table('Member', rows)
}

/** A parameter of a request, as the reference shows it. */
export interface ShownParameter {
  readonly name: string
  readonly description: string
  readonly required?: boolean
  readonly schema: object
}

/** Returns a table of the parameters of a request. */
export const parameterTable = (parameters: readonly ShownParameter[]): string =>
  table(
    'Parameter',
    parameters.map(({ name, description, required = false, schema }) =>
      row(name, { ...schema, description }, required),
    ),
  )

const row = (name: string, schema: Shown, isRequired: boolean): string =>
  `<tr><td><code>${escapeHtml(name)}</code>${isRequired ? '' : ' <span class="required">optional</span>'}</td>` +
  `<td>${escapeHtml(typeOf(schema))}</td><td>${inline(meaningOf(schema))}</td></tr>\n`

const table = (name: 'Member' | 'Parameter', rows: readonly string[]): string =>
  `<div class="table" role="group" aria-label="${name}s" tabindex="0"><table>\n` +
  `<thead>\n<tr><th>${name}</th><th>Type</th><th>Meaning</th></tr>\n</thead>\n<tbody>\n${rows.join('')}</tbody>\n</table></div>\n`

/** Returns the names of the members of a body and of the objects in it, without duplicates. */
export const memberNames = (schema: object): readonly string[] => [
  ...new Set(
    membersOf(schema as Shown, '').map(({ path }) => path.split('.').at(-1)?.replace('[]', '') ?? ''),
  ),
]

interface ReferenceMember {
  readonly path: string
  readonly schema: Shown
  readonly isRequired: boolean
}

function membersOf(schema: Shown, path: string): readonly ReferenceMember[] {
  const { properties, required = [], items, additionalProperties, anyOf } = schema
  if (anyOf !== undefined) return anyOf.flatMap((each) => membersOf(each, path))
  if (items !== undefined) return membersOf(items, `${path}[]`)
  if (properties === undefined && isSchema(additionalProperties))
    return membersOf(additionalProperties, `${path}.{id}`)
  return Object.entries(properties ?? {}).flatMap(([name, member]) => {
    const own = path === '' ? name : `${path}.${name}`
    return [{ path: own, schema: member, isRequired: required.includes(name) }, ...membersOf(member, own)]
  })
}

const isSchema = (value: Shown | false | undefined): value is Shown => typeof value === 'object'

function typeOf({ type, anyOf, items, properties, additionalProperties }: Shown): string {
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (items !== undefined) return `array of ${typeOf(items)}`
  if (properties === undefined && isSchema(additionalProperties))
    return `object of ${typeOf(additionalProperties)} by id`
  return type ?? 'any'
}

/** Describes a member. Uses only the first of several alternatives: the others are null, or mean the same. */
function meaningOf({ anyOf, ...given }: Shown): string {
  const schema = { ...anyOf?.[0], ...given }
  const { description, enum: values, default: usual, items, additionalProperties } = schema
  const inner = items ?? additionalProperties
  const parts = [
    description,
    values === undefined ? undefined : `One of ${values.map((each) => `\`${String(each)}\``).join(', ')}.`,
    usual === undefined ? undefined : `Default \`${String(usual)}\`.`,
    ...limitsOf(schema),
    ...(isSchema(inner) ? limitsOf({ ...inner.anyOf?.[0], ...inner }) : []).map((limit) => `Each: ${limit}`),
  ]
  return parts.filter((part) => part !== undefined).join(' ')
}

function limitsOf({ minimum, maximum, maxItems, maxLength }: Shown): readonly string[] {
  return [
    ...(minimum === undefined ? [] : [`At least ${minimum}.`]),
    ...(maximum === undefined ? [] : [`At most ${maximum}.`]),
    ...(maxItems === undefined ? [] : [`At most ${maxItems} items.`]),
    ...(maxLength === undefined ? [] : [`At most ${maxLength} characters.`]),
  ]
}

/** Shell variables that stand for credentials in the examples. */
const variables: Readonly<Record<string, string>> = {
  'x-service-api-key': '$KEY',
  'x-service-auth-token': '$TOKEN',
  'x-service-workspace-id': '$WORKSPACE',
  'x-service-workspace-auth-token': '$WORKSPACE_TOKEN',
  'x-service-admin-token': '$ADMIN_TOKEN',
}

/** Returns a `curl` command that calls an operation, to paste into a shell. */
export function curlOf(path: string, credentials: readonly string[], body: unknown): string {
  const shown = credentials.map((name) => `-H "${name}: ${variables[name]}"`).join(' ')
  const quoted = JSON.stringify(body).replaceAll("'", `'\\''`)
  return [
    `curl http://localhost:8787${path}`,
    `  ${shown}`,
    "  -H 'content-type: application/json'",
    `  -d '${quoted}'`,
  ].join(' \\\n')
}

interface TriedOperation {
  readonly path: string
  readonly isChanging: boolean
  readonly credentials: readonly TriedHeader[]
  /** Names of the headers that the reader may also send. */
  readonly optional: readonly string[]
  /** The body that the form shows at the start. */
  readonly example: unknown
}

interface TriedHeader {
  readonly name: string
  /** Description in one sentence. */
  readonly description: string
}

/** Maximum number of lines of a body that the form shows without scrolling. */
const rowsMax = 18

/** Returns the form with which a reader calls an operation. The script of the page sends the call. */
export function tryForm({ path, isChanging, credentials, optional, example }: TriedOperation): string {
  const text = JSON.stringify(example, null, 2)
  const rows = Math.min(rowsMax, text.split('\n').length)
  const effect = isChanging
    ? 'The request goes to this server. It changes stored data.'
    : 'The request goes to this server.'
  const fields = [
    ...credentials.map(credentialField),
    ...optional.map((name) => field(`${name} (optional)`, `type="text" name="${name}"`)),
  ]
  return `<details class="try-box">
<summary>Try it</summary>
<form class="try" data-path="${path}">
<p>${effect}${credentials.length > 0 ? ' Your browser keeps the credentials until you close this tab.' : ''}</p>
<div class="fields">
${fields.join('')}</div>
<label>Request body <textarea name="body" rows="${rows}" spellcheck="false">${escapeHtml(text)}</textarea></label>
<p class="row"><button type="submit">Send</button> <output class="status"></output></p>
<pre class="response" tabindex="0" aria-label="Response body" role="region" hidden><code></code></pre>
</form>
</details>
`
}

/** Returns the field of a credential. Ids are visible; browsers hide the characters of secrets. */
function credentialField({ name, description }: TriedHeader): string {
  const type = name.endsWith('-token') ? 'password' : 'text'
  return field(description.replace(/\.$/, ''), `type="${type}" name="${name}" data-credential`)
}

const field = (label: string, attributes: string): string =>
  `<label>${escapeHtml(label)} <input ${attributes} autocomplete="off" spellcheck="false"></label>\n`
