import { SaxesParser } from 'saxes'
import { isObjectName, type StoredObject } from './object-store.ts'

/** One page of a ListObjectsV2 response. */
export interface ObjectPage {
  readonly objects: readonly StoredObject[]
  /** Token of the next page; null on the last page. */
  readonly next: string | null
}

/** Returns the texts of the elements without children, as pairs of the path and the text. */
function textsOf(xml: string): readonly (readonly [path: string, text: string])[] {
  const texts: (readonly [string, string])[] = []
  const path: string[] = []
  let text = ''
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name }) => {
    path.push(name)
    text = ''
  })
  parser.on('text', (part) => {
    text += part
  })
  parser.on('closetag', () => {
    texts.push([path.join('/'), text])
    path.pop()
    text = ''
  })
  parser.write(xml).close()
  return texts
}

/**
 * Reads a response of ListObjectsV2. Leaves out objects whose names below `prefix` are not those of a
 * repository.
 * @throws Error if it is not such a response
 */
export function readObjectPage(xml: string, prefix: string): ObjectPage {
  const objects: StoredObject[] = []
  let [key, size] = ['', -1]
  let [isTruncated, next] = [false, '']
  let isList = false
  for (const [path, text] of textsOf(xml)) {
    if (path === 'ListBucketResult/Contents/Key') key = text
    if (path === 'ListBucketResult/Contents/Size') size = /^\d+$/.test(text) ? Number(text) : -1
    if (path === 'ListBucketResult/IsTruncated') isTruncated = text.trim() === 'true'
    if (path === 'ListBucketResult/NextContinuationToken') next = text
    if (path === 'ListBucketResult') isList = true
    if (path !== 'ListBucketResult/Contents') continue
    const name = key.slice(prefix.length)
    if (key.startsWith(prefix) && isObjectName(name) && size >= 0) objects.push({ name, size })
    ;[key, size] = ['', -1]
  }
  if (!isList || (isTruncated && next === '')) throw new Error('the response is not a list of objects')
  return { objects, next: isTruncated ? next : null }
}

/** Returns the code and the message of an error response, such as `AccessDenied: Access Denied`. */
export function errorTextOf(status: number, body: string): string {
  try {
    const texts = new Map(textsOf(body))
    const [code, message] = [texts.get('Error/Code'), texts.get('Error/Message')]
    if (code !== undefined) return message === undefined ? code : `${code}: ${message.slice(0, 300)}`
  } catch {
    // The response is not the XML of S3.
  }
  return `HTTP ${status}`
}
