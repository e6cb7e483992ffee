import { idProblem } from '../../core/model/address.ts'
import { isIdempotencyKey, keyLengthMax } from '../../core/model/idempotency-key.ts'
import { isJsonContentType } from '../../core/model/json-content-type.ts'
import { rejected } from './endpoint-rejection.ts'
import { readBodyText } from './read-response.ts'

/** Maximum bytes of a body: a comment of the maximum size with all characters escaped, and its anchor. */
const bodyBytesMax = 131_072
/** Maximum characters of the name of an unknown member in an error. */
const nameLengthMax = 100

/**
 * Reads the value of a member of a request. `undefined` stands for a missing member.
 * @throws RejectedRequest if it is not valid
 */
export type MemberReader<Value> = (value: unknown, path: string) => Value

/** Readers of the members of an object, by name. */
export interface ReadersByName {
  readonly [name: string]: MemberReader<unknown>
}

/** The object that readers return. */
export type MembersOf<Readers extends ReadersByName> = {
  readonly [Name in keyof Readers]: ReturnType<Readers[Name]>
}

/**
 * Reads the JSON of a request.
 * @throws RejectedRequest if it is too large or not JSON, or if a page of another site could have sent it
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const { headers } = request
  // A page of another site can send this content type only after a preflight request.
  if (!isJsonContentType(headers.get('content-type') ?? ''))
    throw rejected('request/content-type', 'the content type must be application/json')
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity')
    throw rejected('request/content-type', 'the body must not be compressed')
  const isShort = Number(headers.get('content-length') ?? 0) <= bodyBytesMax
  const text = isShort ? await readBodyText(request, bodyBytesMax) : null
  if (text === null) throw rejected('request/body-too-large', `the body is larger than ${bodyBytesMax} bytes`)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw rejected('request/invalid-json', 'the body is not JSON')
  }
}

/**
 * Reads the members of an object. The result has no other members.
 * @throws RejectedRequest if a member is not valid or not known
 */
export function readMembers<Readers extends ReadersByName>(
  value: unknown,
  readers: Readers,
  path = '',
): MembersOf<Readers> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw rejected('request/invalid-member', 'must be an object', path)
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(readers, name))
  if (unknown !== undefined)
    throw rejected('request/unknown-member', 'is not known', `${path}/${pointerPart(unknown)}`)
  const members = Object.entries(readers).map(([name, read]) => {
    const own = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
    return [name, read(own, `${path}/${name}`)]
  })
  return Object.fromEntries(members) as MembersOf<Readers>
}

const pointerPart = (name: string): string =>
  name.slice(0, nameLengthMax).replaceAll('~', '~0').replaceAll('/', '~1')

/** Reads a member that can be missing. */
export const optionalMember =
  <Value>(read: MemberReader<Value>): MemberReader<Value | undefined> =>
  (value, path) =>
    value === undefined ? undefined : read(value, path)

/** Reads an id. */
export const validId: MemberReader<string> = (value, path) => {
  const problem = idProblem(value)
  if (problem !== null) throw rejected('request/invalid-member', problem, path)
  return value as string
}

/** Reads an idempotency key. */
export const validKey: MemberReader<string> = (value, path) => {
  if (!isIdempotencyKey(value))
    throw rejected('request/invalid-member', `must be 1 to ${keyLengthMax} visible ASCII characters`, path)
  return value
}

/** Reads a text that is not empty. @param bytesMax maximum size in bytes of UTF-8 */
export const boundedText =
  (bytesMax: number): MemberReader<string> =>
  (value, path) => {
    if (typeof value !== 'string' || value.trim() === '')
      throw rejected('request/invalid-member', 'must be a text that is not empty', path)
    if (value.length > bytesMax || new TextEncoder().encode(value).length > bytesMax)
      throw rejected('request/invalid-member', `must be at most ${bytesMax} bytes of UTF-8`, path)
    return value
  }

/** Reads a list. @param lengthMax maximum number of members */
export const listOf =
  <Value>(read: MemberReader<Value>, lengthMax: number): MemberReader<readonly Value[]> =>
  (value, path) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > lengthMax)
      throw rejected('request/invalid-member', `must be a list of 1 to ${lengthMax} members`, path)
    return value.map((member: unknown, at) => read(member, `${path}/${at}`))
  }

/** Reads one of some values. */
export const choiceOf =
  <Value extends string>(values: readonly Value[]): MemberReader<Value> =>
  (value, path) => {
    if (!(values as readonly unknown[]).includes(value))
      throw rejected('request/invalid-member', `must be one of: ${values.join(', ')}`, path)
    return value as Value
  }
