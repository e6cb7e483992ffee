import { createHash } from 'node:crypto'

/**
 * Maximum length of a token. A longer token is replaced by its hash, because the server rejects lines of more
 * than 4 KB.
 */
const lengthMax = 200

const written = (letter: string): string => `=${letter.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Encodes a topic, which may contain any characters, as one token of a subject. Different topics get
 * different tokens.
 */
export function subjectToken(topic: string): string {
  const token = topic === '' ? '=' : topic.replace(/[^A-Za-z0-9/_-]/g, written)
  if (token.length <= lengthMax) return token
  return `#${createHash('sha256').update(Buffer.from(topic, 'utf16le')).digest('base64url')}`
}
