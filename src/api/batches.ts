import { emptyBatchResults } from '../directory/store/batch.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import type { UnknownInEntries } from './members.ts'
import type { Batch, Operation, OperationResult } from './operation.ts'
import type { Schema } from './schema.ts'
import type { ValidationIssue, ValidatorCache } from './validator.ts'

/** Results of entries that were taken out of a request, by their ids. */
export type RejectedEntries = Readonly<Record<string, object>>

/** Validates `data`. `textLength` is the length of the body. @throws ApiError INVALID_ARGUMENT */
type RequestValidator = (
  data: object,
  textLength: number,
  unknown: UnknownInEntries | null,
) => RejectedEntries

/** One member of a request that is a list of entries. */
interface List {
  readonly name: string
  readonly maxItems: number
  /** The id of an entry; its JSON pointer if it has no text as its id. */
  readonly idOf: (entry: unknown, pointer: string) => string
  /** @throws ApiError INVALID_ARGUMENT, about the member `item` */
  readonly validate: (item: unknown, textLength: number) => void
}

interface Problem {
  readonly code: ErrorCode
  readonly issues: readonly ValidationIssue[]
}

interface Entry {
  readonly list: string
  readonly pointer: string
  readonly id: string
  readonly value: unknown
  readonly problem: Problem | null
}

/**
 * Validates requests. Entries of a batch that do not fit are taken out of `data`, and the other entries are carried
 * out. The result of an entry that was taken out is `success: false`. Other entries with its id are also taken out: the
 * results have one place for each id. The whole request is rejected if no entry fits, or if anything else does not fit.
 */
export function compileRequest(
  { request, batch }: Pick<Operation, 'request' | 'batch'>,
  validators: ValidatorCache,
): RequestValidator {
  const validate = validators.compile(request)
  if (batch === undefined)
    return (data, textLength) => {
      validate(data, textLength)
      return {}
    }
  const lists = Object.entries(batch.items).map(([name, id]) =>
    listOf(name, id, request.properties[name], validators),
  )
  return (data, textLength, unknown) => {
    const problem =
      unknown?.error ??
      caught(() => {
        validate(data, textLength)
        for (const { name } of lists) checkEntries(batch, name, data)
      })
    if (problem === null) return {}
    const entries = lists.flatMap((list) => entriesOf(batch, list, data, textLength, unknown))
    const bad = new Set(entries.filter((entry) => entry.problem !== null).map(({ id }) => id))
    const fitting = entries.filter(({ id }) => !bad.has(id))
    if (bad.size === 0 || fitting.length === 0) throw problem
    const rejected = resultsOf(batch, entries, data)
    for (const list of new Set(entries.map((entry) => entry.list))) keepOnly(fitting, list, data)
    validate(data, textLength)
    return rejected
  }
}

function listOf(
  name: string,
  id: string | null,
  schema: Schema | undefined,
  validators: ValidatorCache,
): List {
  if (schema?.type !== 'array') throw new TypeError(`${name} is not a list of entries`)
  const { items, maxItems = Number.POSITIVE_INFINITY } = schema
  const validate = validators.compile({ type: 'object', required: ['item'], properties: { item: items } })
  return {
    name,
    maxItems,
    idOf(entry, pointer) {
      const given = id === null ? entry : memberOf(Object(entry), id)
      return typeof given === 'string' ? given : pointer
    },
    validate: (item, textLength) => validate({ item }, textLength),
  }
}

const memberOf = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined

/** @throws ApiError INVALID_ARGUMENT for what schemas do not check */
function checkEntries({ check }: Batch, list: string, data: object): void {
  const given = memberOf(data, list)
  if (check === undefined || !Array.isArray(given)) return
  for (const [index, entry] of given.entries()) check(entry as never, `/data/${list}/${index}`)
}

/** Empty if the list itself does not fit. */
function entriesOf(
  { check }: Batch,
  { name, maxItems, idOf, validate }: List,
  data: object,
  textLength: number,
  unknown: UnknownInEntries | null,
): readonly Entry[] {
  const given = memberOf(data, name)
  if (!Array.isArray(given) || given.length > maxItems) return []
  return given.map((value: unknown, index) => {
    const pointer = `/data/${name}/${index}`
    const issues = unknown?.byEntry.get(pointer)
    const invalid = caught(() => {
      validate(value, textLength)
      check?.(value as never, pointer)
    })
    const problem = issues === undefined ? problemOf(invalid, pointer) : { code: unknownMember, issues }
    return { list: name, pointer, id: idOf(value, pointer), value, problem }
  })
}

const unknownMember = 'request/unknown-member' as const

function problemOf(error: ApiError | null, pointer: string): Problem | null {
  if (error === null) return null
  const issues = error.details?.issues as readonly ValidationIssue[]
  const placed = issues.map(({ path, message }) => ({ path: path.replace('/data/item', pointer), message }))
  return { code: error.code, issues: placed }
}

function resultsOf(batch: Batch, entries: readonly Entry[], data: object): RejectedEntries {
  const members = new Map<string, unknown>(Object.entries(data))
  const results = emptyBatchResults<object>()
  for (const { id, pointer, problem } of entries) {
    const [first] = problem?.issues ?? []
    if (problem === null || first === undefined || Object.hasOwn(results, id)) continue
    const message = `${first.path.slice(pointer.length + 1)} ${first.message}`.trim()
    results[id] = batch.rejected(id, { message, details: { ...problem } }, members)
  }
  return results
}

/** A list that none of them is in is left out: it may have to have an entry. */
function keepOnly(fitting: readonly Entry[], list: string, data: object): void {
  const values = fitting.filter((entry) => entry.list === list).map(({ value }) => value)
  if (values.length === 0) Reflect.deleteProperty(data, list)
  else Reflect.set(data, list, values)
}

function caught(validate: () => void): ApiError | null {
  try {
    validate()
    return null
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** The answer with the results of entries that were taken out of its request. */
export function withRejected(
  answer: OperationResult<unknown>,
  rejected: RejectedEntries,
): OperationResult<unknown> {
  const count = Object.keys(rejected).length
  if (count === 0) return answer
  const message = `${answer.message} ${count} ${count === 1 ? 'entry does' : 'entries do'} not fit.`
  return { ...answer, message, data: Object.assign(Object.create(null), rejected, answer.data) }
}
