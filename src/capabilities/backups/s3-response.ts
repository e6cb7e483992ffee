import { SaxesParser } from 'saxes'
import { isObjectName, type StoredObject } from './object-store.ts'

/** One page of a ListObjectsV2 response. */
interface ObjectPage {
  readonly objects: readonly StoredObject[]
  /** Token of the next page; null on the last page. */
  readonly next: string | null
}

/** Maximum depth of the elements. The deepest known one is `ListBucketResult/Contents/Owner/ID`. */
const depthMax = 16
/** Maximum number of objects in a page, which the protocol has. */
const pageObjectsMax = 1_000
const tokenCharactersMax = 8_192
const errorCharactersMax = 300

/**
 * Calls `found` at the end of each element, with its path and the text after its last child.
 * @throws Error if the text is not XML, or has elements below `depthMax`
 */
function readElements(xml: string, found: (path: string, text: string) => void): void {
  const path: string[] = []
  let text = ''
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name }) => {
    path.push(name)
    if (path.length > depthMax) throw new Error('the response is nested too deeply')
    text = ''
  })
  parser.on('text', (part) => {
    text += part
  })
  parser.on('closetag', () => {
    found(path.join('/'), text)
    path.pop()
    text = ''
  })
  parser.write(xml).close()
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
  let [isList, count] = [false, 0]
  readElements(xml, (path, text) => {
    if (path === 'ListBucketResult/Contents/Key') key = text
    if (path === 'ListBucketResult/Contents/Size') size = /^\d+$/.test(text) ? Number(text) : -1
    if (path === 'ListBucketResult/IsTruncated') isTruncated = text.trim() === 'true'
    if (path === 'ListBucketResult/NextContinuationToken') next = text
    if (path === 'ListBucketResult') isList = true
    if (path !== 'ListBucketResult/Contents') return
    if (++count > pageObjectsMax) throw new Error(`the response has more than ${pageObjectsMax} objects`)
    const name = key.slice(prefix.length)
    if (key.startsWith(prefix) && isObjectName(name) && size >= 0) objects.push({ name: copyOf(name), size })
    ;[key, size] = ['', -1]
  })
  if (!isList || (isTruncated && next === '')) throw new Error('the response is not a list of objects')
  if (next.length > tokenCharactersMax) throw new Error('the token of the next page is too long')
  return { objects, next: isTruncated ? next : null }
}

/** Returns a string that does not keep the whole response in memory. Names have ASCII characters only. */
const copyOf = (name: string): string => Buffer.from(name, 'latin1').toString('latin1')

/** Returns the code and the message of an error response, such as `AccessDenied: Access Denied`. */
export function errorTextOf(status: number, body: string): string {
  let [code, message] = ['', '']
  try {
    readElements(body, (path, text) => {
      if (path === 'Error/Code') code = text.slice(0, errorCharactersMax)
      if (path === 'Error/Message') message = text.slice(0, errorCharactersMax)
    })
  } catch {
    // The response is not the XML of S3.
    return `HTTP ${status}`
  }
  if (code === '') return `HTTP ${status}`
  return message === '' ? code : `${code}: ${message}`
}
