import * as s from '../base/schema.ts'
import { idProblem } from './address.ts'
import { deletedUserId } from './deleted-user.ts'

/**
 * Maximum number of users that one record may mention, in addition to the acting user and the recipients.
 * Each mentioned user becomes an index entry.
 */
export const namedUsersMax = 100

/** Maximum number of users that all records of one call may mention together. */
export const namedInCallMax = 2_000

/** A user, in the form in which records and messages contain it. */
export const namedUserSchema = s.object({ userId: s.string }, { name: s.string, email: s.string })
export type NamedUser = s.TypeOf<typeof namedUserSchema>

export const deletedUser: NamedUser = { userId: deletedUserId }

const isNamedUser = (one: object): one is { readonly userId: string } =>
  'userId' in one && typeof one.userId === 'string' && idProblem(one.userId) === null

/**
 * Returns the ids of the users that a JSON value mentions. Each object whose member `userId` is a valid id
 * counts as a user.
 * @param idMembers names of members whose value is the id of a user
 */
export function findNamedUsers(value: unknown, idMembers: readonly string[] = []): ReadonlySet<string> {
  const found = new Set<string>()
  const look = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return
    if (isNamedUser(one)) found.add(one.userId)
    for (const [name, member] of Object.entries(one)) {
      if (idMembers.includes(name) && typeof member === 'string' && idProblem(member) === null)
        found.add(member)
      look(member)
    }
  }
  look(value)
  return found
}

/**
 * Returns a copy of a JSON value in which users have no email addresses. The same objects count as users as in
 * `findNamedUsers`.
 */
export function withoutEmails<Value>(value: Value): Value {
  const clean = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(clean)
    if (typeof one !== 'object' || one === null) return one
    const isUser = isNamedUser(one)
    const members = Object.entries(one).filter(([name]) => !isUser || name !== 'email')
    return Object.fromEntries(members.map(([name, member]) => [name, clean(member)]))
  }
  return clean(value) as Value
}

/**
 * Returns a copy of a JSON value in which `deletedUser` replaces the given user. Each object whose `userId`
 * is the id of the user is replaced as a whole.
 * @param known the user to replace; texts that equal the name or the email address of the user are replaced
 * as well
 * @param idMembers as for `findNamedUsers`
 */
export function withoutUser<Value>(value: Value, known: NamedUser, idMembers: readonly string[] = []): Value {
  const names = new Set([known.name, known.email].filter((each) => each !== undefined && each !== ''))
  const isId = (name: string, member: unknown): boolean => idMembers.includes(name) && member === known.userId
  const clean = (one: unknown): unknown => {
    if (typeof one === 'string') return names.has(one) ? deletedUserId : one
    if (Array.isArray(one)) return one.map(clean)
    if (typeof one !== 'object' || one === null) return one
    if ('userId' in one && one.userId === known.userId) return deletedUser
    // The id of another user must stay, even if it equals the name of the replaced user.
    const members = Object.entries(one).map(([name, member]) => [
      name,
      name === 'userId' ? member : isId(name, member) ? deletedUserId : clean(member),
    ])
    return Object.fromEntries(members)
  }
  return clean(value) as Value
}
