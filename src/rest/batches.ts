import { ApiError, type ErrorCode } from '../core/base/errors.ts'
import { memoized } from '../core/base/maps.ts'
import { json, type ObjectSchema, type Schema } from '../core/base/schema.ts'
import { emptyBatchResults } from '../core/directory/store/batch.ts'
import type { UnknownInEntries } from './members.ts'
import type { Batch, Operation, OperationResult } from './operation.ts'
import { type ValidationIssue, validatorOf } from './validator.ts'

/** Entries that were removed from a request. */
export interface RemovedEntries {
  /** Results of invalid entries, by id. */
  readonly rejected: Readonly<Record<string, object>>
  /** Number of entries that a later entry with the same id replaces. */
  readonly replaced: number
}

const nothingRemoved: RemovedEntries = { rejected: {}, replaced: 0 }

/**
 * Validates the `data` of a request. Returns the entries that were removed from `data`. `textLength` is the
 * length of the body in characters.
 * @throws ApiError INVALID_ARGUMENT
 */
export type RequestValidator = (
  data: object,
  textLength: number,
  unknown: UnknownInEntries | null,
) => RemovedEntries

/** A member of a request that is a list of entries. */
interface List {
  readonly name: string
  readonly maxItems: number
  /** Returns the id of an entry; null if the id is missing or not a text. */
  readonly idOf: (entry: unknown) => string | null
  /**
   * Validates one entry.
   * @throws ApiError INVALID_ARGUMENT with a path that begins with `item`
   */
  readonly validate: (item: unknown, textLength: number) => void
}

interface Problem {
  readonly code: ErrorCode
  readonly issues: readonly ValidationIssue[]
}

interface Entry {
  readonly list: string
  readonly pointer: string
  readonly id: string | null
  readonly value: unknown
  readonly problem: Problem | null
}

/**
 * Returns the validator of an operation's requests. The response to a batch has one result for each id, so
 * only the last entry of an id counts: the validator removes the earlier entries from `data`. It also removes
 * invalid entries: their result is `success: false`, and the server executes the other entries. The whole
 * request is rejected if no entry is valid, or if anything else is invalid.
 */
export function requestValidatorOf({
  request,
  batch,
}: Pick<Operation, 'request' | 'batch'>): RequestValidator {
  const validate = validatorOf(request)
  if (batch === undefined)
    return (data, textLength) => {
      validate(data, textLength)
      return nothingRemoved
    }
  const lists = Object.entries(batch.items).map(([name, id]) => listOf(name, id, request.properties[name]))
  return (data, textLength, unknown) => {
    const problem =
      unknown?.error ??
      caught(() => {
        validate(data, textLength)
        for (const { name } of lists) checkEntries(batch, name, data)
      })
    if (problem === null && !lists.some((list) => hasRepeatedId(list, data))) return nothingRemoved
    const all = lists.flatMap((list) => entriesOf(batch, list, data, textLength, unknown))
    const entries = lastOfEachId(all)
    const fitting = entries.filter((entry) => entry.problem === null)
    if (problem !== null && fitting.length === 0) throw problem
    const rejected = resultsOf(batch, entries, data)
    for (const list of new Set(all.map((entry) => entry.list))) keepOnly(fitting, list, data)
    validate(data, textLength)
    return { rejected, replaced: all.length - entries.length }
  }
}

function hasRepeatedId({ name, idOf }: List, data: object): boolean {
  const given = memberOf(data, name)
  if (!Array.isArray(given)) return false
  const ids = given.map(idOf).filter((id) => id !== null)
  return new Set(ids).size < ids.length
}

/**
 * Returns the last entry of each id, and all entries without an id, because the server creates a new id for
 * each of them.
 */
function lastOfEachId(entries: readonly Entry[]): readonly Entry[] {
  const last = new Map(entries.map((entry) => [entry.id, entry]))
  return entries.filter((entry) => entry.id === null || last.get(entry.id) === entry)
}

function listOf(name: string, id: string | null, schema: Schema | undefined): List {
  if (schema?.type !== 'array') throw new TypeError(`${name} is not a list of entries`)
  const { items, maxItems = Number.POSITIVE_INFINITY } = schema
  const validate = validatorOf(entrySchemaOf(items))
  return {
    name,
    maxItems,
    idOf(entry) {
      const given = id === null ? entry : memberOf(Object(entry), id)
      return typeof given === 'string' ? given : null
    },
    validate: (item, textLength) => validate({ item }, textLength),
  }
}

/** One schema for the entries of a list, so that it is compiled once in a process. */
const entrySchemas = new WeakMap<Schema, ObjectSchema>()

const entrySchemaOf = (items: Schema): ObjectSchema =>
  memoized(entrySchemas, items, () => json.object({ item: items }))

const memberOf = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined

/**
 * Checks the rules for entries that a schema cannot express.
 * @throws ApiError INVALID_ARGUMENT
 */
function checkEntries({ check }: Batch, list: string, data: object): void {
  const given = memberOf(data, list)
  if (check === undefined || !Array.isArray(given)) return
  for (const [index, entry] of given.entries()) check(entry as never, `/data/${list}/${index}`)
}

/** Returns the entries of a list. Returns no entries if the list itself is invalid. */
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
    return { list: name, pointer, id: idOf(value), value, problem }
  })
}

const unknownMember = 'request/unknown-member' as const

function problemOf(error: ApiError | null, pointer: string): Problem | null {
  if (error === null) return null
  const issues = error.details?.issues as readonly ValidationIssue[]
  const placed = issues.map(({ path, message }) => ({ path: path.replace('/data/item', pointer), message }))
  return { code: error.code, issues: placed }
}

function resultsOf(batch: Batch, entries: readonly Entry[], data: object): RemovedEntries['rejected'] {
  const members = new Map<string, unknown>(Object.entries(data))
  const results = emptyBatchResults<object>()
  for (const { id, pointer, problem } of entries) {
    const [first] = problem?.issues ?? []
    if (problem === null || first === undefined) continue
    const message = `${first.path.slice(pointer.length + 1)} ${first.message}`.trim()
    const key = id ?? pointer
    results[key] = batch.rejected(key, { message, details: { ...problem } }, members)
  }
  return results
}

/**
 * Reduces a list to its valid entries. Deletes a list without valid entries, because its schema may require
 * at least one.
 */
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

/** Adds the results of invalid entries, and the numbers of all removed entries, to the response. */
export function withRemoved(
  answer: OperationResult<unknown>,
  { rejected, replaced }: RemovedEntries,
): OperationResult<unknown> {
  const count = Object.keys(rejected).length
  if (count === 0 && replaced === 0) return answer
  const sentences = [
    answer.message,
    ...(count > 0 ? [`${count} ${count === 1 ? 'entry is' : 'entries are'} not valid.`] : []),
    ...(replaced > 0
      ? [
          `${replaced} ${replaced === 1 ? 'entry has' : 'entries have'} no effect: the last entry of an id counts.`,
        ]
      : []),
  ]
  const data: unknown = Object.assign(Object.create(null), rejected, answer.data)
  return { ...answer, message: sentences.join(' '), data }
}
