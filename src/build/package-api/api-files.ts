import { feedEvent } from '../../capabilities/feed/api/feed-schema.ts'
import { operationList } from '../../capabilities/list.ts'
import { eventData, protectedMembers } from '../../capabilities/webhooks/api/event-schema.ts'
import { httpCodes } from '../../core/base/error-codes.ts'
import type { Schema } from '../../core/base/schema.ts'
import { type OptionKey, optionKeys, optionOf } from '../../core/config/config.ts'
import { defaultText } from '../../core/config/render-config.ts'
import { eventTypes } from '../../core/events/outbound-event.ts'
import type { Operation } from '../../rest/operation.ts'
import type { PrintedPath } from '../generated-files.ts'
import { allCodes, commonCodes, idempotencyCodes, ownCodes } from './operation-codes.ts'
import { type NamedOperation, nameOperations } from './operation-names.ts'
import { sharedSchemas } from './shared-schemas.ts'
import { comment, TypePrinter } from './type-printer.ts'

/** Types of the options whose values have no plain type, for programs. */
const specialTypes: Readonly<Partial<Record<OptionKey, string>>> = {
  bootstrap:
    'Readonly<Record<string, { readonly workspaceId: string; readonly workspaceAuthToken: string; readonly apiKey: string; readonly authToken: string }>>',
  jwtClaims: "{ readonly [Claim in 'userId' | 'name' | 'email' | 'admin' | 'apiKey']?: string }",
  debug: 'readonly string[]',
  webhookAllowlist: 'readonly string[]',
}

/** Returns the declarations of the options for programs. */
function optionValues(): string {
  const members = optionKeys.map((key) => {
    const { description, parser } = optionOf(key)
    // A comment must not have a tag of TSDoc or an unclosed link.
    const about = `${description} Expects ${parser.expected}. Default: ${defaultText(key)}.`
    return `${comment(about.replaceAll(/[{}@]/g, '\\$&'))}readonly ${key}?: ${typeOf(key)} | null`
  })
  const about =
    'Values of the options that the chapter on configuration lists. Null and undefined are the default.'
  return `${comment(about)}export interface OptionValues {\n${members.join('\n')}\n}`
}

function typeOf(key: OptionKey): string {
  const { default: value, parser } = optionOf(key)
  const special = specialTypes[key]
  if (special !== undefined) return special
  if (typeof value === 'object' && value !== null)
    return 'number | { readonly perSecond: number; readonly burst: number }'
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value
  return parser.expected.startsWith('"')
    ? parser.expected.replaceAll('"', "'").replaceAll(' or ', ' | ')
    : 'string'
}

/** Returns the text of each generated file of the package, by its path. */
export function apiFiles(): Readonly<Record<PrintedPath, string>> {
  const named = nameOperations(operationList)
  return {
    'src/client/api/codes.ts': textOf(codesFile()),
    'src/client/api/operations.ts': textOf(tableFile(named)),
    'src/client/api/operation-types.ts': textOf(typesFile(named)),
    'src/server/library/option-values.ts': textOf(optionValues()),
  }
}

const clientCodes = [
  'client/unreachable',
  'client/timeout',
  'client/aborted',
  'client/invalid-response',
] as const

const union = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(' | ')

const importOf = (names: readonly string[], file: string): string =>
  `import type { ${names.join(', ')} } from '${file}'`

function codesFile(): string {
  return [
    `${comment('Status of a failed call. `CANCELLED`: the caller aborted it.')}export type WeftStatus = ${union([...Object.keys(httpCodes), 'CANCELLED'])}`,
    `${comment('Code of an error of the server.')}export type WeftErrorCode = ${union(allCodes)}`,
    `${comment(
      'Code of a call without a valid response. `client/unreachable`: there was no response. `client/timeout`: there was no response in time. `client/aborted`: the caller aborted the call. `client/invalid-response`: the response is not from Weft, such as the page of a proxy, or is too large.',
    )}export type ClientErrorCode = ${union(clientCodes)}`,
    `${comment('Codes that every call can have.')}export type CommonErrorCode = ClientErrorCode | ${union(commonCodes)}`,
    `${comment('Codes that every call of an operation that changes something can have.')}export type ChangeErrorCode = CommonErrorCode | ${union(idempotencyCodes)}`,
  ].join('\n\n')
}

function tableFile(named: readonly NamedOperation[]): string {
  const rows = named.map(({ operation, parts }) => {
    const { path, effect, bare = false } = operation
    const pages = pagesOf(operation)
    const shown =
      pages === null
        ? 'null'
        : `{ token: '${pages.token}', items: ${pages.items === null ? 'null' : `'${pages.items}'`} }`
    return `'${parts.join('.')}': { path: '${path}', effect: '${effect}', bare: ${bare}, pages: ${shown} },`
  })
  return [
    `${importOf(['OperationEntry'], './methods.ts')}\n`,
    '/** The operations by their names. */',
    `export const operations = {\n${rows.join('\n')}\n} as const satisfies Readonly<Record<string, OperationEntry>>`,
  ].join('\n')
}

interface OperationPages {
  readonly token: 'pageToken' | 'iterator'
  /** Name of the member with the items; null: the data is the list. */
  readonly items: string | null
  readonly item: Schema
}

/** Returns how the pages of an operation are read; null if it has no pages. */
function pagesOf({ request, response, path }: Operation): OperationPages | null {
  const tokens = ['pageToken', 'iterator'] as const
  const token = tokens.find((name) => Object.hasOwn(request.properties, name))
  if (token === undefined) return null
  if (response?.type === 'array') return { token, items: null, item: response.items }
  const lists = Object.entries(response?.type === 'object' ? (response.properties ?? {}) : {}).flatMap(
    ([items, schema]) => (schema.type === 'array' ? [{ token, items, item: schema.items }] : []),
  )
  const [list] = lists
  if (list === undefined || lists.length > 1)
    throw new TypeError(`${path} needs exactly one list in its response`)
  return list
}

function typesFile(named: readonly NamedOperation[]): string {
  const printer = new TypePrinter(sharedSchemas)
  const dataOfEvents = { type: 'object', required: eventTypes, properties: eventData } as const
  printer.declare('WeftEventData', dataOfEvents, 'Data of each event by its name.')
  printer.add(
    'ProtectedMember',
    `${comment('Names of the members that data protection removes from webhooks.')}export type ProtectedMember = ${union(protectedMembers)}`,
  )
  printer.declare('FeedEvent', feedEvent, 'An event of the change feed. `type` decides which data it has.')
  for (const { operation, typeName } of named) {
    const { path, request, response, effect } = operation
    printer.declare(`${typeName}Request`, request, `Request of \`${path}\`.`)
    printer.declare(`${typeName}Data`, response ?? { type: 'null' }, `Data of a response of \`${path}\`.`)
    const common = effect === 'reads' ? 'CommonErrorCode' : 'ChangeErrorCode'
    printer.add(
      `${typeName}ErrorCode`,
      `${comment(`Codes of errors of \`${path}\`.`)}export type ${typeName}ErrorCode = ${[common, ...ownCodes(operation).map((code) => `'${code}'`)].join(' | ')}`,
    )
  }
  return [
    importOf(['ChangeErrorCode', 'CommonErrorCode'], './codes.ts'),
    importOf(['CallOptions', 'ListMethod'], './methods.ts'),
    `${importOf(['Result'], './result.ts')}\n`,
    apiInterface(named),
    printer.text,
  ].join('\n')
}

/** Members of an object of methods. */
interface ApiBranch {
  readonly branches: Map<string, ApiBranch>
  readonly methods: string[]
}

const newBranch = (): ApiBranch => ({ branches: new Map(), methods: [] })

function apiInterface(named: readonly NamedOperation[]): string {
  const root = newBranch()
  for (const each of named) {
    let branch = root
    for (const part of each.parts.slice(0, -1)) {
      const next = branch.branches.get(part) ?? newBranch()
      branch.branches.set(part, next)
      branch = next
    }
    branch.methods.push(methodText(each))
  }
  return `${comment('A method for each operation. No method throws or rejects for a failed call.')}export interface WeftApi {\n${printBranch(root)}\n}\n`
}

const printBranch = ({ methods, branches }: ApiBranch): string =>
  [
    ...methods,
    ...[...branches].map(([name, branch]) => `readonly ${name}: {\n${printBranch(branch)}\n}`),
  ].join('\n')

function methodText({ operation, parts, typeName }: NamedOperation): string {
  const { path, summary, description, request, errors } = operation
  const name = parts.at(-1) ?? ''
  const about = comment(
    `${summary}: \`POST ${path}\`.`,
    description,
    ...(errors.length === 0
      ? []
      : [`Errors: ${errors.map(({ code, when }) => `\`${code}\` when ${when}.`).join(' ')}`]),
  )
  const [requestType, data, code] = [`${typeName}Request`, `${typeName}Data`, `${typeName}ErrorCode`]
  const isOptional = (request.required ?? []).length === 0
  const pages = pagesOf(operation)
  if (pages !== null) {
    const item = pages.items === null ? `${data}[number]` : `${data}['${pages.items}'][number]`
    const args = `[data${isOptional ? '?' : ''}: ${requestType}, options?: CallOptions]`
    return `${about}readonly ${name}: ListMethod<${args}, ${data}, ${code}, ${item}>`
  }
  return `${about}${name}(data${isOptional ? '?' : ''}: ${requestType}, options?: CallOptions): Promise<Result<${data}, ${code}>>`
}

/** Returns the text of a file from its code, with a header and with indented members. */
function textOf(code: string): string {
  let depth = 0
  const lines = code.split('\n').map((line) => {
    const isComment = /^(\/\*\*| \*)/.test(line)
    if (!isComment && line.startsWith('}')) depth -= 1
    const indented = line === '' ? line : '  '.repeat(depth) + line
    if (!isComment && line.endsWith('{')) depth += 1
    return indented
  })
  return ['// Generated by `npm run generate`. Do not edit.', ...lines, ''].join('\n')
}
