// This file never runs. `npm run check` compiles it, and each of these lines must be an error.
import { dataOf, type WeftClient } from 'weft-server/client'

export async function wrong(weft: WeftClient): Promise<void> {
  const place = { organizationId: 'acme', documentId: 'plan' }

  // @ts-expect-error: no such operation
  await weft.crdt.replace(place)
  // @ts-expect-error: it is called editorId
  await weft.crdt.get({ ...place, editorID: 'main' })
  // @ts-expect-error: there is no type txt
  await weft.crdt.update({ ...place, editorId: 'main', type: 'txt', data: '' })

  const result = await weft.crdt.get(place)
  // @ts-expect-error: only a successful result has data
  console.log(result.data)
  // @ts-expect-error: this operation has no such code
  if (!result.ok && result.error.code === 'webhook/disabled') return
  const [read] = dataOf(result)
  // @ts-expect-error: no response has such a member
  console.log(read?.contents)
}
