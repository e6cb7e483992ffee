// This file never runs. `npm run check` compiles it, and each of these lines must be an error.
import type { Weft } from './client.ts'

export async function wrong(weft: Weft): Promise<void> {
  const place = { organizationId: 'acme', documentId: 'plan' }

  // @ts-expect-error: no such operation
  await weft.call('/v2/crdt/replace', place)
  // @ts-expect-error: it is called editorId
  await weft.call('/v2/crdt/get', { ...place, editorID: 'main' })
  // @ts-expect-error: there is no type txt
  await weft.call('/v2/crdt/update', { ...place, editorId: 'main', type: 'txt', data: '' })
  // @ts-expect-error: documentId is missing
  await weft.call('/v2/crdt/get', { organizationId: 'acme' })

  const [read] = await weft.call('/v2/crdt/get', place)
  // @ts-expect-error: no answer has such a member
  console.log(read?.contents)
}
