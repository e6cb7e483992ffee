import { idProblem } from './address.ts'

/** Stands for everybody whose data was deleted. */
export const deletedUserId = 'deleted-user'

/** Users that one record may name beside who acts and who is addressed: each is an index entry. */
export const namedUsersMax = 100

/** The same of all records that one call writes. */
export const namedInCallMax = 2_000

/** A user as a record shows it. */
export interface NamedUser {
  readonly userId: string
  readonly name?: string
  readonly email?: string
}

export const deletedUser: NamedUser = { userId: deletedUserId }

/** Ids of the users that a JSON value names: each object in it with an id as `userId` is one. */
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
 * A JSON value with the deleted user wherever it names this one: of an object with that `userId` nothing else is left.
 * @param known of the user: texts that are its name or its e-mail address, and nothing else, go too
 */
export function withoutUser<Value>(value: Value, known: NamedUser): Value {
  const names = new Set([known.name, known.email].filter((each) => each !== undefined && each !== ''))
  const clean = (one: unknown): unknown => {
    if (typeof one === 'string') return names.has(one) ? deletedUserId : one
    if (Array.isArray(one)) return one.map(clean)
    if (typeof one !== 'object' || one === null) return one
    if ((one as { readonly userId?: unknown }).userId === known.userId) return deletedUser
    // Somebody else's id stays, even if it is what this one is called.
    const members = Object.entries(one).map(([name, member]) => [
      name,
      name === 'userId' ? member : clean(member),
    ])
    return Object.fromEntries(members)
  }
  return clean(value) as Value
}
