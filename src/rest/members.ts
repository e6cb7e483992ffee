import { type ApiError, invalid } from '../core/base/errors.ts'
import { escapePointer } from '../core/base/json.ts'
import { memoized } from '../core/base/maps.ts'
import {
  acceptsNull,
  isRequired,
  type MapSchema,
  type ObjectSchema,
  type Schema,
} from '../core/base/schema.ts'
import { misspelledName, shortened } from '../core/base/text.ts'
import type { Config } from '../core/config/config.ts'
import type { Operation } from './operation.ts'
import { batchMax } from './schemas/resource-schema.ts'
import { issuesMax, type ValidationIssue } from './validator.ts'

/** Response header with the names of the members that a call ignored. */
export const ignoredHeader = 'x-weft-ignored'

/**
 * Maximum number of different unknown members in one call. Each unknown member is compared with the known
 * members of its object.
 */
const differentMax = 1_000
/** Maximum characters of a member name in a path of a response. */
const nameLengthMax = 64
/**
 * Maximum characters of an unknown name in a response, if the name does not misspell a known name. The limit
 * is low because the name may be a secret.
 */
const unknownNameLengthMax = 20
/** Maximum characters of the header, because proxies reject responses with large headers. */
const headerLengthMax = 1_500

/**
 * Returns whether an operation rejects every unknown member, unless the option `unknownMembers` is `ignore`.
 */
export const isStrict = ({ effect, strict }: Pick<Operation, 'effect' | 'strict'>): boolean =>
  effect !== 'reads' || strict === true

interface SentRequest {
  /** The JSON object of the body. */
  readonly body: object
  /** Path and query of the request. */
  readonly target: string
}

/** Unknown members in the entries of a batch. Only the entries that contain them are rejected. */
export interface UnknownInEntries {
  /** The error that lists all these unknown members. */
  readonly error: ApiError
  /** Issues by the JSON pointer of their entry. */
  readonly byEntry: ReadonlyMap<string, readonly ValidationIssue[]>
}

export interface CheckedMembers {
  /** Value of the header that lists the ignored members; null if there are none. */
  readonly ignored: string | null
  /** Sentences about kept members that most likely misspell known ones, each once. */
  readonly warnings: readonly string[]
  readonly unknown: UnknownInEntries | null
}

/**
 * Checks the members of a request in one pass, before validation. Finds unknown members: members that the
 * schema of the operation does not list, and all query parameters, because operations have none. Removes
 * members that mean "not given" from the body, in place: `null` in an optional member, unless its schema
 * accepts null (there, `null` unsets the member). If the operation only reads, also removes an empty list in
 * an optional member of `data`, because a filter without values filters nothing. A list of ids keeps its
 * meaning, also in operations that write: without ids, it names nothing, and never all.
 * @throws ApiError INVALID_ARGUMENT if a member outside the entries of a batch misspells a known member; if
 * `mode` is `reject` and a strict operation has an unknown member there; if there are more than 1,000
 * different unknown members
 */
export function checkMembers(
  operation: Pick<Operation, 'effect' | 'strict' | 'request' | 'batch' | 'unknownHint'>,
  { body, target }: SentRequest,
  mode: Config['unknownMembers'],
): CheckedMembers {
  const { request, batch, effect } = operation
  const data: unknown = Reflect.get(body, 'data')
  const hint = (path: string): string | null =>
    typeof data === 'object' && data !== null ? (operation.unknownHint?.(data, path) ?? null) : null
  const rejectsAll = isStrict(operation) && mode === 'reject'
  const members = new MemberChecker(rejectsAll, Object.keys(batch?.items ?? {}), hint)
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
    const isFilter = memberOf(schema, name)?.type === 'array' && !name.endsWith('Ids')
    if (isFilter && Array.isArray(member) && member.length === 0 && !isRequired(schema, name))
      Reflect.deleteProperty(data, name)
  }
}

type Path = (string | number)[]

class MemberChecker {
  /** Returns the form that the request must have instead of the member at `path`; null if it is not known. */
  readonly #hint: (path: string) => string | null
  readonly #rejectsAll: boolean
  /** Names of the members of `data` that are lists of entries. */
  readonly #lists: readonly string[]
  readonly #issues: ValidationIssue[] = []
  readonly #byEntry = new Map<string, ValidationIssue[]>()
  #rejectsCall = false
  readonly #ignored: string[] = []
  #different = 0
  readonly #warnings = new Set<string>()
  /** Number of kept members that were compared with the missing members of their objects. */
  #compared = 0
  /**
   * The unknown names that were found for each object schema, with the known names that they misspell. The
   * cache is useful because the items of a list mostly have the same names.
   */
  readonly #intended = new Map<ObjectSchema, Map<string, string | null>>()

  constructor(rejectsAll: boolean, lists: readonly string[], hint: (path: string) => string | null) {
    this.#hint = hint
    this.#rejectsAll = rejectsAll
    this.#lists = lists
  }

  /**
   * Checks a value and everything in it.
   * @param path names of the members that contain `value`; the array is modified during the walk
   */
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
        if (known === undefined) this.#unknown(object, value, name, path)
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

  #unknown(schema: ObjectSchema | MapSchema, value: object, name: string, path: Path): void {
    if (schema.properties === undefined) return
    const isKept = schema.additionalProperties !== undefined && !schema['x-reserved']?.includes(name)
    if (isKept) this.#kept(schema, value, name, path)
    else this.#rejected(schema, name, path)
  }

  /**
   * Checks a member that is kept although the schema does not list it. If it misspells a listed member that is missing,
   * the caller is warned. If the missing member decides about access or names something, the call is rejected: without
   * it, the call would do something else.
   */
  #kept(schema: ObjectSchema, value: object, name: string, path: Path): void {
    const missing = Object.keys(schema.properties).filter((each) => !Object.hasOwn(value, each))
    if (missing.length === 0 || this.#compared++ >= differentMax) return
    const intended = meantMember(name, missing)
    if (intended === null) return
    if (isDecisive(schema.properties[intended] as Schema)) this.#rejected(schema, name, path)
    else if (this.#warnings.size < issuesMax) {
      const pointer = `${pointerOf(path.map((each) => (typeof each === 'number' ? '*' : each)))}/${shownName(name, intended)}`
      this.#warnings.add(`kept ${pointer}, which has no meaning for Weft; did you mean ${intended}?`)
    }
  }

  #rejected(schema: ObjectSchema, name: string, path: Path): void {
    const met = memoized(this.#intended, schema, () => new Map<string, string | null>())
    const before = met.get(name)
    const entry = this.#entryOf(path)
    if (before !== undefined && entry === null) return
    const intended = before === undefined ? meantMember(name, Object.keys(schema.properties)) : before
    met.set(name, intended)
    const issue = issueOf(`${pointerOf(path)}/${shownName(name, intended)}`, intended)
    this.found(issue, intended !== null, entry, before === undefined)
  }

  /** Returns the JSON pointer of the entry that contains the path; null if the path is not in an entry. */
  #entryOf([, list, index]: Path): string | null {
    const isEntry = typeof list === 'string' && this.#lists.includes(list) && typeof index === 'number'
    return isEntry && index < batchMax ? `/data/${list}/${index}` : null
  }

  /**
   * Records an unknown member.
   * @param entry JSON pointer of the entry that contains the member; null: the member rejects the call
   */
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

  /**
   * Returns the result of the check.
   * @throws ApiError INVALID_ARGUMENT if a member outside the entries is rejected
   */
  finish(): CheckedMembers {
    const [first] = this.#issues
    const ignored = this.#ignored.length === 0 ? null : headerOf(this.#ignored)
    const warnings = [...this.#warnings]
    if (first === undefined) return { ignored, warnings, unknown: null }
    const { path, message } = first
    const hint = this.#hint(path)
    const full = hint === null ? `${path} ${message}` : `${path} ${message}; ${hint}`
    const error = invalid('request/unknown-member', full, { issues: this.#issues })
    if (this.#rejectsCall) throw error
    return { ignored, warnings, unknown: { error, byEntry: this.#byEntry } }
  }
}

/**
 * Returns the issue of an unknown member.
 * @param intended the known member that the unknown name misspells; null if there is none
 */
const issueOf = (path: string, intended: string | null): ValidationIssue => ({
  path,
  message: `is unknown${intended === null ? '; remove it' : ` (did you mean ${intended}?)`}`,
})

/** Returns whether a member of an open object decides about access or names a resource. */
const isDecisive = ({ type, ...schema }: Schema): boolean =>
  type === 'boolean' ||
  (type === 'string' && ('enum' in schema || ('format' in schema && schema.format === 'id')))

/** Returns the known member that a name misspells or shortens, such as `expiresIn`; null if there is none. */
function meantMember(name: string, known: readonly string[]): string | null {
  const longer = known.filter((each) => name.length >= shortenedMin && each.startsWith(name))
  return longer.length === 1 ? (longer[0] as string) : misspelledName(name, known)
}

/** Minimum length of a shortened name. Shorter ones begin many names by chance. */
const shortenedMin = 6

/** Returns the alternatives of a schema. A schema without alternatives is its own only alternative. */
const branchesOf = (schema: Schema): readonly Schema[] =>
  schema.type === undefined && schema.anyOf !== undefined ? schema.anyOf : [schema]

/** Returns whether values of a schema may contain unknown members. Free-form values are not checked. */
const hasMembers = (schema: Schema): boolean =>
  branchesOf(schema).some(({ type }) => type === 'object' || type === 'array')

/** Returns the alternative that lists all members of the value; otherwise the first alternative. */
function objectSchemaOf(schema: Schema, value: object) {
  const objects = branchesOf(schema).filter((branch) => branch.type === 'object')
  if (objects.length < 2) return objects[0]
  const fitting = objects.find(
    (each) =>
      each.properties === undefined || Object.keys(value).every((name) => memberOf(each, name) !== undefined),
  )
  return fitting ?? objects[0]
}

/** Returns whether the caller chooses all member names of an object. */
const isFreeForm = ({ properties, additionalProperties }: ObjectSchema | MapSchema): boolean =>
  properties === undefined &&
  additionalProperties.type === undefined &&
  additionalProperties.anyOf === undefined

/** Returns the schema of a member; undefined if the schema of the object does not list the member. */
function memberOf({ properties, additionalProperties }: ObjectSchema | MapSchema, name: string) {
  if (properties === undefined) return additionalProperties
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

/**
 * Returns an unknown name as a part of a JSON pointer. The name is truncated. A name that misspells a known
 * name keeps more characters.
 */
const shownName = (name: string, intended: string | null): string =>
  escapePointer(shortened(name, intended === null ? unknownNameLengthMax : nameLengthMax))

const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((name) => `/${escapePointer(shortened(String(name), nameLengthMax))}`).join('')

/**
 * Returns the value of the header: as many pointers as it can contain, encoded for a URI (RFC 6901 section
 * 6), and the number of the remaining pointers.
 */
function headerOf(pointers: readonly string[]): string {
  let text = ''
  for (const [index, pointer] of pointers.entries()) {
    const next = encodeURI(pointer.toWellFormed()).replaceAll(',', '%2C')
    if (text.length + next.length > headerLengthMax) return `${text}, and ${pointers.length - index} more`
    text += index === 0 ? next : `, ${next}`
  }
  return text
}
