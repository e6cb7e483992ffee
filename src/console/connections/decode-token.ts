/** The readable parts of a JWT. */
interface DecodedToken {
  readonly header: object
  readonly claims: object
}

/** Decodes a JWT without checking it; null if it is not a JWT. */
export function decodeToken(token: string): DecodedToken | null {
  const [header = '', claims = '', signature, ...rest] = token.split('.')
  if (signature === undefined || rest.length > 0) return null
  const [decodedHeader, decodedClaims] = [objectIn(header), objectIn(claims)]
  if (decodedHeader === null || decodedClaims === null) return null
  return { header: decodedHeader, claims: decodedClaims }
}

function objectIn(part: string): object | null {
  try {
    const bytes = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      Uint8Array.from(bytes, (character) => character.charCodeAt(0)),
    )
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
