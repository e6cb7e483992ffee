import { MalformedJsonError } from '../base/json.ts'
import * as s from '../base/schema.ts'
import { idProblem } from '../model/address.ts'
import { decodeBase64 } from '../model/base64.ts'
import { readBoundedJson } from '../model/bounded-json.ts'
import { contentTypeNames } from './content-type-names.ts'
import type { ContentTarget } from './replace.ts'

/** Maximum memory of the values of a response in bytes, as `measureJson` estimates it. */
const valueBytesMax = 96 * 2 ** 20

/** Content of an editor that does not exist yet, as a backend returns it. */
export type InitialContent =
  /** The backend has no content. */
  | { readonly kind: 'none' }
  /** `update`: a Yjs update (V1), which is not vetted. */
  | { readonly kind: 'update'; readonly update: Uint8Array; readonly userId: string }
  | {
      readonly kind: 'target'
      /** The content, which is not checked. */
      readonly target: ContentTarget
      readonly schema: string | undefined
      readonly userId: string
    }

const optionalText = s.string
/** An id, with the rules of the REST API. The erasure of a user finds only such ids. */
const optionalId = s.checked(s.string, (given) => idProblem(given) === null)

/** Response of `load`: nothing, a Yjs update, or content of a type. */
const responseSchema = s.anyOf([
  s.object({ notFound: s.literal(true) }),
  s.object({ update: s.string }, { userId: optionalId }),
  s.object(
    { type: s.choice(contentTypeNames), data: s.unknown },
    { contentKey: optionalText, schema: optionalText, userId: optionalId },
  ),
])

/**
 * Reads the response of a backend.
 * @param json UTF-8
 * @throws MalformedJsonError if the response has the wrong form
 */
export function readInitialContent(json: Uint8Array): InitialContent {
  const response = readBoundedJson(responseSchema, json, valueBytesMax)
  if ('notFound' in response) return { kind: 'none' }
  const { userId = '' } = response
  if ('type' in response) {
    const { type, data, contentKey, schema } = response
    return { kind: 'target', target: { type, contentKey, data }, schema, userId }
  }
  const update = decodeBase64(response.update)
  if (update === null) throw new MalformedJsonError('update must be base64')
  return { kind: 'update', update, userId }
}
