import * as v from 'valibot'
import { idProblem } from './address.ts'

/** Id that represents all users whose data was deleted. */
export const deletedUserId = 'deleted-user'

/**
 * Maximum number of users that one record may name in addition to the acting user and the recipients: each is
 * an index entry.
 */
export const namedUsersMax = 100

/** The same limit for all records that one call writes. */
export const namedInCallMax = 2_000

/** A user in a record. */
export interface NamedUser {
  readonly userId: string
  readonly name?: string
  readonly email?: string
}

/** Schema of a user in stored records and messages. */
export const namedUserSchema = v.looseObject({
  userId: v.string(),
  name: v.exactOptional(v.string()),
  email: v.exactOptional(v.string()),
})

export const deletedUser: NamedUser = { userId: deletedUserId }

/** Returns the ids of the users that a JSON value names: each object in it with an id as `userId` is one. */
export function findNamedUsers(value: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  const look = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return
    const { userId } = one as { readonly userId?: unknown }
    if (typeof userId === 'string' && idProblem(userId) === null) found.add(userId)
    Object.values(one).forEach(look)
  }
  look(value)
  return found
}

/**
 * Returns a JSON value in which the deleted user replaces this one. An object with that `userId` is replaced
 * as a whole.
 * @param known the user; texts that equal its name or its email address are also replaced
 */
export function withoutUser<Value>(value: Value, known: NamedUser): Value {
  const names = new Set([known.name, known.email].filter((each) => each !== undefined && each !== ''))
  const clean = (one: unknown): unknown => {
    if (typeof one === 'string') return names.has(one) ? deletedUserId : one
    if (Array.isArray(one)) return one.map(clean)
    if (typeof one !== 'object' || one === null) return one
    if ((one as { readonly userId?: unknown }).userId === known.userId) return deletedUser
    // Another user's id stays, even if it equals the name of this one.
    const members = Object.entries(one).map(([name, member]) => [
      name,
      name === 'userId' ? member : clean(member),
    ])
    return Object.fromEntries(members)
  }
  return clean(value) as Value
}
