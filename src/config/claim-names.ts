import type { Parser } from './option-parsers.ts'

/** Which claims of a third party's tokens say what. Null: none does. */
export interface ClaimNames {
  readonly userId: string
  readonly name: string
  readonly email: string
  /** Of a claim that is `true` for those who edit all documents. */
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

/** Such as `userId=sub,apiKey=https://example.com/key`: what is not listed is as usual. */
export const claimNames: Parser<ClaimNames> = {
  expected:
    '`member=claim` pairs with commas between them, of the members userId, name, email, admin, apiKey',
  parse(text) {
    const pairs = text.split(',').map((pair) => /^\s*(\w+)\s*=\s*(\S+)\s*$/.exec(pair))
    const names = new Map(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
    const known = [...names.keys()].every((name) => Object.hasOwn(usualClaimNames, name))
    return known && names.size === pairs.length
      ? { ...usualClaimNames, ...Object.fromEntries(names) }
      : undefined
  },
}
