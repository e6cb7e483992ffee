import { MalformedJsonError, readJson } from '../base/json.ts'
import type { SchemaOf } from '../base/schema.ts'
import { measureJson } from './json-depth.ts'
import { limits } from './limits.ts'

/** Maximum depth of the JSON in a response, including the object that contains the content. */
const depthMax = limits.typeDepth + 2

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Parses the response of a backend, unless its values are nested too deeply or take too much memory.
 * @param bytes UTF-8
 * @param valueBytesMax maximum memory of the values in bytes, as `measureJson` estimates it
 * @throws MalformedJsonError
 */
export function readBoundedJson<T>(schema: SchemaOf<T>, bytes: Uint8Array, valueBytesMax: number): T {
  const text = utf8.decode(bytes)
  const { isTooDeep, valueBytes } = measureJson(text, depthMax)
  if (isTooDeep) throw new MalformedJsonError(`it is nested more than ${depthMax} levels deep`)
  if (valueBytes > valueBytesMax) throw new MalformedJsonError('it has too many values')
  return readJson(schema, text)
}
