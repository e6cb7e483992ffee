import type { Parser } from './option-parsers.ts'

/** Names of the claims in the tokens of an identity provider. Null: the tokens do not contain this claim. */
export interface ClaimNames {
  readonly userId: string
  readonly name: string
  readonly email: string
  /** Name of a claim that is `true` if the user may edit all documents. */
  readonly admin: string | null
  readonly apiKey: string | null
}

export const usualClaimNames: ClaimNames = {
  userId: 'sub',
  name: 'name',
  email: 'email',
  admin: null,
  apiKey: null,
}

/**
 * Parses a list such as `userId=sub,apiKey=https://example.com/key`. Members that the list does not contain
 * keep their default names.
 */
export const claimNames: Parser<ClaimNames> = {
  expected: 'comma-separated `member=claim` pairs, of the members userId, name, email, admin, apiKey',
  parse(text) {
    const pairs = text.split(',').map((pair) => /^\s*(\w+)\s*=\s*(\S+)\s*$/.exec(pair))
    const names = new Map(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
    const known = [...names.keys()].every((name) => Object.hasOwn(usualClaimNames, name))
    return known && names.size === pairs.length
      ? { ...usualClaimNames, ...Object.fromEntries(names) }
      : undefined
  },
}
