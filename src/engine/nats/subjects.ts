import { createHash } from 'node:crypto'

/** A server reads no line longer than 4 KB; beyond this a topic goes by its hash. */
const lengthMax = 200

const written = (letter: string): string => `=${letter.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A topic as one token of a subject, whatever it is made of. No two topics have the same one. */
export function subjectToken(topic: string): string {
  const token = topic === '' ? '=' : topic.replace(/[^A-Za-z0-9/_-]/g, written)
  if (token.length <= lengthMax) return token
  return `#${createHash('sha256').update(Buffer.from(topic, 'utf16le')).digest('base64url')}`
}
