import type { Config } from '../config.ts'
import { type ApiError, invalid } from '../errors.ts'
import { misspelledName, shortened } from '../text.ts'
import type { Operation } from './operation.ts'
import { acceptsNull, isRequired, type MapSchema, type ObjectSchema, type Schema } from './schema.ts'
import { batchMax } from './schemas/resource-schema.ts'
import { escapePointer, issuesMax, type ValidationIssue } from './validator.ts'

/** The response header that names the members that a call ignores. */
export const ignoredHeader = 'x-weft-ignored'

/** Different unknown members of one call. Each is compared with the known members of its object. */
const differentMax = 1_000
/** Characters of a name in a path that an answer repeats. */
const nameLengthMax = 64
/** Characters that an answer repeats of an unknown name that misspells nothing: the name may be a secret. */
const unknownNameLengthMax = 20
/** Characters of the header: proxies reject answers with large ones. */
const headerLengthMax = 1_500

/** Whether an operation rejects every unknown member, unless the option `unknownMembers` is `ignore`. */
export const isStrict = ({ effect, strict }: Pick<Operation, 'effect' | 'strict'>): boolean =>
  effect !== 'reads' || strict === true

/** A request as it was sent. */
interface SentRequest {
  /** The JSON object of the body. */
  readonly body: object
  /** Path and query. */
  readonly target: string
}

/** Unknown members that reject entries of a batch. */
export interface UnknownInEntries {
  /** The error for all of them. */
  readonly error: ApiError
  /** By the JSON pointers of the entries. */
  readonly byEntry: ReadonlyMap<string, readonly ValidationIssue[]>
}

interface CheckedMembers {
  /** Value of the header that names the ignored members; null if there are none. */
  readonly ignored: string | null
  readonly unknown: UnknownInEntries | null
}

/**
 * Checks the members of a request in one pass, before validation. It finds unknown members: members that the schema of
 * the operation does not list, and all query parameters, because operations have no query parameters. It removes
 * members that mean "not given" from the body, in place: `null` in an optional member, unless its schema accepts null
 * (there, `null` unsets the member). An operation that only reads also ignores an empty list in an optional member of
 * `data`: a filter without values filters nothing. In other operations, an empty list keeps its meaning: it must never
 * stand for all.
 * @throws ApiError INVALID_ARGUMENT for a member outside the entries of a batch that misspells a known one; for every
 * unknown member of a strict operation if `mode` is `reject`; for more than 1,000 different unknown members
 */
export function checkMembers(
  operation: Pick<Operation, 'effect' | 'strict' | 'request' | 'batch'>,
  { body, target }: SentRequest,
  mode: Config['unknownMembers'],
): CheckedMembers {
  const { request, batch, effect } = operation
  const members = new MemberChecker(isStrict(operation) && mode === 'reject', Object.keys(batch?.items ?? {}))
  const parameters = Object.keys(request.properties)
  const outside = (prefix: string, name: string): void => {
    const intended = misspelledName(name, parameters)
    const issue = issueOf(prefix + shownName(name, intended), intended === null ? null : `/data/${intended}`)
    members.found(issue, intended !== null, null)
  }
  const query = target.indexOf('?')
  if (query !== -1) for (const name of new URLSearchParams(target.slice(query + 1)).keys()) outside('?', name)
  for (const [name, value] of Object.entries(body)) {
    if (name !== 'data') outside('/', name)
    else {
      members.walk(request, value, ['data'])
      if (effect === 'reads') removeEmptyLists(request, value)
    }
  }
  return members.finish()
}

function removeEmptyLists(schema: ObjectSchema, data: object): void {
  for (const [name, member] of Object.entries(data)) {
    const isList = memberOf(schema, name)?.type === 'array'
    if (isList && Array.isArray(member) && member.length === 0 && !isRequired(schema, name))
      Reflect.deleteProperty(data, name)
  }
}

type Path = (string | number)[]

class MemberChecker {
  readonly #rejectsAll: boolean
  /** Members of `data` that are lists of entries. */
  readonly #lists: readonly string[]
  readonly #issues: ValidationIssue[] = []
  readonly #byEntry = new Map<string, ValidationIssue[]>()
  #rejectsCall = false
  readonly #ignored: string[] = []
  #different = 0
  /**
   * Unknown names that each object schema has met, with the known names that they misspell: the items of a list mostly
   * have the same ones.
   */
  readonly #intended = new Map<ObjectSchema, Map<string, string | null>>()

  constructor(rejectsAll: boolean, lists: readonly string[]) {
    this.#rejectsAll = rejectsAll
    this.#lists = lists
  }

  /** @param path the names above `value`; changed meanwhile */
  walk(schema: Schema, value: unknown, path: Path): void {
    if (Array.isArray(value)) {
      const array = branchesOf(schema).find((branch) => branch.type === 'array')
      if (array === undefined || !hasMembers(array.items)) return
      for (const [index, item] of value.entries()) this.#walkInto(array.items, item, path, index)
    } else if (typeof value === 'object' && value !== null) {
      const object = objectSchemaOf(schema, value)
      if (object === undefined || isFreeForm(object)) return
      // `Object.entries` would take four times as long.
      for (const name of Object.keys(value)) {
        const known = memberOf(object, name)
        const member: unknown = Reflect.get(value, name)
        if (known === undefined) this.#unknown(object, name, path)
        else if (member !== null) this.#walkInto(known, member, path, name)
        else if (!acceptsNull(known) && !isRequired(object, name)) Reflect.deleteProperty(value, name)
      }
    }
  }

  #walkInto(schema: Schema, value: unknown, path: Path, name: string | number): void {
    path.push(name)
    this.walk(schema, value, path)
    path.pop()
  }

  #unknown(schema: ObjectSchema | MapSchema, name: string, path: Path): void {
    if (schema.properties === undefined || schema.additionalProperties !== undefined) return
    const met = this.#intended.get(schema) ?? new Map<string, string | null>()
    this.#intended.set(schema, met)
    const before = met.get(name)
    const entry = this.#entryOf(path)
    if (before !== undefined && entry === null) return
    const intended = before === undefined ? misspelledName(name, Object.keys(schema.properties)) : before
    met.set(name, intended)
    const issue = issueOf(`${pointerOf(path)}/${shownName(name, intended)}`, intended)
    this.found(issue, intended !== null, entry, before === undefined)
  }

  /** The JSON pointer of the entry that has the path; null if it is of no entry. */
  #entryOf([, list, index]: Path): string | null {
    const isEntry = typeof list === 'string' && this.#lists.includes(list) && typeof index === 'number'
    return isEntry && index < batchMax ? `/data/${list}/${index}` : null
  }

  /** @param entry the pointer of the entry that has the member; null: the member rejects the call */
  found(issue: ValidationIssue, isMisspelled: boolean, entry: string | null, isFirst = true): void {
    if (isFirst) this.#different += 1
    if (this.#different > differentMax)
      throw invalid(
        'request/unknown-member',
        `the request has more than ${differentMax} different unknown members; remove them`,
      )
    if (!isMisspelled && !this.#rejectsAll) {
      if (isFirst) this.#ignored.push(issue.path)
      return
    }
    if (entry === null) this.#rejectsCall = true
    else {
      const others = this.#byEntry.get(entry) ?? []
      if (others.length < issuesMax) this.#byEntry.set(entry, [...others, issue])
    }
    if (isFirst && this.#issues.length < issuesMax) this.#issues.push(issue)
    if (this.#rejectsCall && this.#issues.length === issuesMax) this.finish()
  }

  /** @throws ApiError INVALID_ARGUMENT if a member outside the entries is rejected */
  finish(): CheckedMembers {
    const [first] = this.#issues
    const ignored = this.#ignored.length === 0 ? null : headerOf(this.#ignored)
    if (first === undefined) return { ignored, unknown: null }
    const { path, message } = first
    const error = invalid('request/unknown-member', `${path} ${message}`, { issues: this.#issues })
    if (this.#rejectsCall) throw error
    return { ignored, unknown: { error, byEntry: this.#byEntry } }
  }
}

/** @param intended the known member that the member at `path` misspells, or null */
const issueOf = (path: string, intended: string | null): ValidationIssue => ({
  path,
  message: `is unknown${intended === null ? '; remove it' : ` (did you mean ${intended}?)`}`,
})

/** The alternatives of a schema. A schema without alternatives is the only one. */
const branchesOf = (schema: Schema): readonly Schema[] =>
  schema.type === undefined && schema.anyOf !== undefined ? schema.anyOf : [schema]

/** Whether there may be unknown members below: free-form values are not checked. */
const hasMembers = (schema: Schema): boolean =>
  branchesOf(schema).some(({ type }) => type === 'object' || type === 'array')

/** The alternative that lists all members of the value, else the first alternative. */
function objectSchemaOf(schema: Schema, value: object) {
  const objects = branchesOf(schema).filter((branch) => branch.type === 'object')
  if (objects.length < 2) return objects[0]
  const fitting = objects.find(
    (each) =>
      each.properties === undefined || Object.keys(value).every((name) => memberOf(each, name) !== undefined),
  )
  return fitting ?? objects[0]
}

/** Whether the caller chooses all member names. */
const isFreeForm = ({ properties, additionalProperties }: ObjectSchema | MapSchema): boolean =>
  properties === undefined &&
  additionalProperties.type === undefined &&
  additionalProperties.anyOf === undefined

/** Undefined for a member that the schema does not list. */
function memberOf({ properties, additionalProperties }: ObjectSchema | MapSchema, name: string) {
  if (properties === undefined) return additionalProperties
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** An unknown name as part of a JSON pointer: whole if it misspells a known one. */
const shownName = (name: string, intended: string | null): string =>
  escapePointer(shortened(name, intended === null ? unknownNameLengthMax : nameLengthMax))

const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((name) => `/${escapePointer(shortened(String(name), nameLengthMax))}`).join('')

/** As many pointers as fit, encoded for a URI (RFC 6901 section 6), and the number of the others. */
function headerOf(pointers: readonly string[]): string {
  let text = ''
  for (const [index, pointer] of pointers.entries()) {
    const next = encodeURI(pointer.toWellFormed()).replaceAll(',', '%2C')
    if (text.length + next.length > headerLengthMax) return `${text}, and ${pointers.length - index} more`
    text += index === 0 ? next : `, ${next}`
  }
  return text
}
