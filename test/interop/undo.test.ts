// @vitest-environment dom
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Editor, eventually, syncedEditor } from '../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { judges } from './judges.ts'
import type { Seat } from './third-party-editor.ts'

describe.each(Object.entries(judges))('%s at a server', (_name, judge) => {
  let server: TestServer
  let token: string
  const opened: { seat: Seat; editor: Editor }[] = []
  beforeAll(async () => {
    server = await startTestServer()
    token = await server.token('ada')
  })
  afterAll(async () => {
    for (const { seat, editor } of opened) {
      seat.close()
      editor.close()
    }
    await server?.stop()
  })

  const address = (documentId: string) => ({ organizationId: 'acme', documentId, editorId: 'main' })

  async function sit(documentId: string): Promise<Seat> {
    const editor = await syncedEditor(server.wsUrl, `acme/${documentId}/main`, token)
    const seat = judge.open(editor.doc)
    opened.push({ seat, editor })
    return seat
  }

  /** Returns the result of `get`, or null if the document does not exist. */
  async function read(documentId: string): Promise<unknown> {
    const format = judge.type === 'delta' ? { format: 'delta' } : {}
    const answer = await server.post('/v2/crdt/get', {
      ...address(documentId),
      ...format,
      contentKey: judge.contentKey,
    })
    return answer.status === 200 ? (dataOf(answer) as { data: unknown }[])[0]?.data : null
  }

  async function write(documentId: string, data: unknown): Promise<unknown> {
    const { type, contentKey } = judge
    return dataOf(await server.post('/v2/crdt/update', { ...address(documentId), type, contentKey, data }))
  }

  /** Creates a document as another user, and returns the data that the server has of it. */
  async function begin(documentId: string): Promise<unknown> {
    const colleague = await sit(documentId)
    colleague.write(judge.contents[0])
    let data: unknown = null
    await eventually(async () => {
      data = await read(documentId)
      return judge.edits.every(([word]) => JSON.stringify(data).includes(word))
    })
    return data
  }

  const edited = (data: unknown): unknown =>
    JSON.parse(
      judge.edits.reduce((text, [word, instead]) => text.replaceAll(word, instead), JSON.stringify(data)),
    )

  const becomes = async (documentId: string, data: unknown): Promise<void> => {
    let last: unknown
    const isThere = async (): Promise<boolean> => {
      last = await read(documentId)
      return JSON.stringify(last) === JSON.stringify(data)
    }
    await eventually(isThere, () => ({ last, data }))
  }

  it('[EDITOR-1] writes no byte when a backend reads content by REST and writes it back unchanged', async () => {
    const data = await begin('same')
    expect(await write('same', data)).toMatchObject({ changed: false, bytes: 0 })
  })

  it('[EDITOR-3] undo reverts only the edits of its own user, and redo restores them', async () => {
    const before = await begin('undone')
    const seat = await sit('undone')
    seat.type('mine')
    let typed: unknown = before
    await eventually(async () => {
      typed = await read('undone')
      return JSON.stringify(typed).includes('mine')
    })
    expect(await write('undone', edited(typed))).toMatchObject({ changed: true })
    const shows = (words: readonly string[]) => () =>
      words.every((word) => JSON.stringify(seat.shown()).includes(word))
    await eventually(shows(['mine', ...judge.edits.map(([, instead]) => instead)]), () => seat.shown())
    seat.undo()
    await becomes('undone', edited(before))
    // The replacement is not a step of this user, so there is nothing more to undo.
    seat.undo()
    seat.redo()
    await becomes('undone', edited(typed))
  })
})
