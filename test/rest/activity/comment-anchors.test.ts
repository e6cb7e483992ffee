import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { anchorLimits } from '../../../src/rest/anchor-places.ts'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { openProvider, recorded, settled } from '../../support/clients/provider.ts'
import { type AnnotationRow, ann, atStart, commentsOf, say } from '../../support/data/comments.ts'
import { errorOf, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'
import { dataOf } from '../../support/servers/server.ts'

let server: PeopleServer
const editors: Editor[] = []
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(async () => {
  for (const editor of editors) editor.close()
  await server.stop()
})

interface Anchored extends Omit<AnnotationRow, 'anchor'> {
  readonly anchor: {
    readonly contentKey: string
    readonly position: string
    readonly positionEnd?: string
  } | null
  readonly anchorPlace?: object | null
}

async function organization(organizationId: string) {
  const comments = await commentsOf(server, organizationId)
  const write = async (data: unknown, more: object = {}) =>
    dataOf(
      await server.post('/v2/crdt/update', {
        organizationId,
        documentId: 'd1',
        editorId: 'main',
        type: 'text',
        data,
        upsert: true,
        ...more,
      }),
    )
  return {
    ...comments,
    write,
    open: async (editorId = 'main'): Promise<Editor> => {
      const token = await server.token('ann')
      const editor = await syncedEditor(server.wsUrl, `${organizationId}/d1/${editorId}`, token)
      editors.push(editor)
      return editor
    },
    /** Opens a page. Returns it with the messages that it gets. */
    follow: async () => {
      const getToken = () => server.token('ann')
      const page = openProvider({ url: server.url, organizationId, documentId: 'd1', getToken })
      await settled(page)
      return { page, messages: recorded(page, 'message') }
    },
    /** Adds an annotation with an anchor in the editor `main`. */
    anchored: (annotationId: string, anchor: object) =>
      comments.add({ annotationId, anchor: { editorId: 'main', ...anchor }, comments: [say('c')] }),
    found: async (annotationId: string) => (await comments.one(annotationId)) as unknown as Anchored,
    all: async (data: object = {}) =>
      (await comments.get({ order: 'asc', ...data })) as unknown as Anchored[],
  }
}

/** Returns the range that stock Yjs finds. */
function rangeIn(doc: Y.Doc, anchor: Anchored['anchor']): readonly [Y.AbstractType<unknown>, number, number] {
  const [from, to] = [anchor?.position, anchor?.positionEnd].map((text = '') =>
    Y.createAbsolutePositionFromRelativePosition(Y.decodeRelativePosition(Buffer.from(text, 'base64')), doc),
  )
  if (!from || !to || from.type !== to.type) throw new Error('the anchor is not in one text')
  return [from.type as Y.AbstractType<unknown>, from.index, to.index]
}

it('[COMM-27] anchors an annotation at a quote, which stock Yjs finds at the same words', async () => {
  const { write, open, anchored, found } = await organization('quotes-27')
  await write('The quick brown fox.\nThe lazy brown dog.')
  await anchored('fox', { quote: 'quick  brown\tfox' })
  await anchored('dog', { quote: 'brown', before: 'lazy', after: 'dog' })
  await anchored('second', { quote: 'The', occurrence: 2 })
  const editor = await open()
  const wordsAt = async (id: string) => {
    const { anchor } = await found(id)
    const [type, from, to] = rangeIn(editor.doc, anchor)
    expect(type).toBe(editor.text)
    return [from, editor.text.toString().slice(from, to)]
  }
  expect(await wordsAt('fox')).toEqual([4, 'quick brown fox'])
  expect(await wordsAt('dog')).toEqual([30, 'brown'])
  expect(await wordsAt('second')).toEqual([21, 'The'])
  expect(Object.keys((await found('fox')).anchor ?? {}).sort()).toEqual([
    'contentKey',
    'editorId',
    'position',
    'positionEnd',
  ])
})

it('[COMM-27] anchors a quote across the formatting of rich text, and moves an anchor with update', async () => {
  const { write, open, anchored, found, update } = await organization('rich-27')
  await write('<heading level="1">Report</heading><paragraph>We <bold>ship</bold> on Monday.</paragraph>', {
    type: 'xml',
    contentKey: 'default',
  })
  await anchored('a', { quote: 'ship on' })
  const editor = await open()
  const paragraph = editor.doc.getXmlFragment('default').get(1) as Y.XmlElement
  const ofStockYjs = async () => rangeIn(editor.doc, (await found('a')).anchor)
  expect(await ofStockYjs()).toEqual([paragraph.get(0), 3, 10])
  expect(await found('a')).toMatchObject({
    anchor: { contentKey: 'default' },
    anchorPlace: { quote: 'ship on', before: 'We ', after: ' Monday.' },
  })
  await update('a', { anchor: { editorId: 'main', quote: 'Monday' } })
  expect(await ofStockYjs()).toEqual([paragraph.get(0), 11, 17])
})

it('[COMM-26] searches a quote without contentKey in the root of the attached schema', async () => {
  const { write, anchored, found } = await organization('schema-26')
  await write('Hello', { contentKey: 'notes' })
  await write('<paragraph>Hello</paragraph>', {
    type: 'xml',
    contentKey: 'default',
    schema: 'tiptap',
    newRoot: true,
  })
  await anchored('a', { quote: 'Hello' })
  expect((await found('a')).anchor?.contentKey).toBe('default')
})

it('[COMM-28] rejects a missing or ambiguous quote with the places that may be meant, and stores nothing', async () => {
  const { write, post, all, add, update, found } = await organization('missing-28')
  await write('The quick brown fox.\nThe lazy brown dog.')
  const refused = async (anchor: object, path = 'add') => {
    const annotations = [{ annotationId: 'a', anchor: { editorId: 'main', ...anchor } }]
    const { status, body } = await post(path, { annotations })
    expect({ status, error: body.error?.status }).toEqual({ status: 400, error: 'FAILED_PRECONDITION' })
    return body.error as object
  }
  expect(await refused({ quote: 'quick red fox' })).toMatchObject({
    message: expect.stringContaining('does not contain the text "quick red fox"'),
    details: {
      code: 'crdt/target-not-found',
      annotationId: 'a',
      candidates: [{ quote: 'quick', before: 'The ' }],
    },
  })
  expect(await refused({ quote: 'brown' })).toMatchObject({
    details: {
      code: 'crdt/target-ambiguous',
      candidates: [{ before: 'The quick ' }, { before: 'The lazy ' }],
    },
  })
  expect(await refused({ quote: 'brown', editorId: 'none' })).toMatchObject({
    details: { code: 'crdt/target-not-found', candidates: [] },
  })
  expect(await all()).toEqual([])
  await add({ annotationId: 'a', priority: 'low' })
  await refused({ quote: 'red' }, 'update')
  const anchor = { editorId: 'main', quote: 'red' }
  const results = await add({ annotationId: 'b', anchor }, { annotationId: 'c' })
  expect(results).toMatchObject({
    b: { success: false, details: { code: 'crdt/target-not-found', candidates: [] } },
    c: { success: true },
  })
  expect(await update('a', { anchor, priority: 'high' }).catch(String)).toMatch(/does not contain/)
  expect((await all()).map(({ annotationId }) => annotationId)).toEqual(['a', 'c'])
  expect(await found('a')).toMatchObject({ anchor: null, priority: 'low' })
})

it('[COMM-28] creates no document if the quote of the only annotation is missing', async () => {
  const { post } = await organization('create-28')
  const annotations = [{ anchor: { editorId: 'main', quote: 'x' } }]
  const answer = await post('add', { documentId: 'new', createDocument: true, annotations })
  expect(errorOf(answer)[0]).toBe('FAILED_PRECONDITION')
  expect(errorOf(await post('get', { documentId: 'new' }))[0]).toBe('NOT_FOUND')
})

it('[COMM-9] rejects an anchor with neither or both of a position and a quote, and a root without text', async () => {
  const { write, refusal, post } = await organization('anchor-9')
  await write({ a: 1 }, { type: 'map', contentKey: 'data', newRoot: true })
  const at = async (anchor: object) =>
    (await refusal('add', { annotations: [{ anchor: { editorId: 'main', ...anchor } }] }))[1]
  expect(await at({})).toBe('/data/annotations/0/anchor/position')
  expect(await at({ quote: ' ' })).toBe('/data/annotations/0/anchor/quote')
  expect(await at({ quote: 'x', position: atStart })).toBe('/data/annotations/0/anchor/position')
  expect(await at({ quote: 'x', positionEnd: atStart })).toBe('/data/annotations/0/anchor/positionEnd')
  expect(await at({ position: atStart, before: 'x' })).toBe('/data/annotations/0/anchor/before')
  expect(await at({ position: atStart, occurrence: 1 })).toBe('/data/annotations/0/anchor/occurrence')
  const { body } = await post('add', { annotations: [{ anchor: { editorId: 'main', quote: 'x' } }] })
  expect(body.error).toMatchObject({
    status: 'INVALID_ARGUMENT',
    details: { code: 'crdt/edit-not-supported' },
  })
})

it('[COMM-29] returns the text at which an anchor is now, and null after it was deleted', async () => {
  const { write, open, anchored, found } = await organization('now-29')
  const long = 'word '.repeat(40).trim()
  await write(`The quick brown fox.\n${long}`)
  await anchored('a', { quote: 'brown' })
  await anchored('long', { quote: long })
  const caret = { ...(await found('a')).anchor }
  await anchored('caret', { position: caret.position })
  const placeOf = async (id: string) => (await found(id)).anchorPlace
  expect(await placeOf('a')).toEqual({ quote: 'brown', before: 'The quick ', after: ' fox.' })
  expect(await placeOf('long')).toEqual({ quote: long.slice(0, 80), shortened: true })
  expect(await placeOf('caret')).toEqual({ quote: '', before: 'The quick ', after: 'brown fox.' })
  const { text } = await open()
  text.insert(10, 'and ')
  text.insert(text.toString().indexOf('brown') + 2, 'xx')
  text.insert(text.toString().indexOf(' fox'), 'ish')
  await eventually(async () => JSON.stringify(await placeOf('a')).includes('ish'))
  expect(await placeOf('a')).toEqual({ quote: 'brxxown', before: 'The quick and ', after: 'ish fox.' })
  text.delete(text.toString().indexOf('brxxown'), 7)
  await eventually(async () => (await placeOf('a')) === null)
  expect(await placeOf('caret')).toEqual({ quote: '', before: 'The quick and ', after: 'ish fox.' })
})

it('[COMM-29] returns a place for anchors only, and null for an anchor in an editor without content', async () => {
  const { add, anchored, found, all } = await organization('none-29')
  await add({ annotationId: 'plain' })
  await anchored('empty', { position: atStart, positionEnd: atStart, contentKey: 'content' })
  expect(await found('plain')).not.toHaveProperty('anchorPlace')
  expect((await found('empty')).anchorPlace).toBeNull()
  expect((await all()).map((annotation) => 'anchorPlace' in annotation)).toEqual([false, true])
})

it('[COMM-30] returns the places in the first editors, and those of a large document from a thread', async () => {
  const { write, add, all } = await organization('many-30')
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} of the large document`)
  await write(lines.join('\n'), { editorId: 'large' })
  const { anchorEditors } = anchorLimits
  const editorIds = ['large', ...Array.from({ length: anchorEditors }, (_, index) => `e${index}`)]
  for (const editorId of editorIds.slice(1)) await write('Hello', { editorId })
  for (const editorId of editorIds) {
    const quote = editorId === 'large' ? 'line 12345 of' : 'Hello'
    await add({ annotationId: editorId, anchor: { editorId, quote }, comments: [say('c', 'x', ann)] })
  }
  const places = (await all()).map(({ anchorPlace }) => anchorPlace)
  expect(places).toHaveLength(anchorEditors + 1)
  expect(places[0]).toMatchObject({ quote: 'line 12345 of', after: ' the large document' })
  expect(places.slice(1, -1)).toEqual(Array.from({ length: anchorEditors - 1 }, () => ({ quote: 'Hello' })))
  expect(places.at(-1)).toBeUndefined()
})

it('[EDIT-24] edits the text of an annotation with the anchor as the annotation returns it', async () => {
  const { write, anchored, found } = await organization('edits-24')
  await write('See you on Monday.')
  await anchored('day', { quote: 'Monday' })
  const { anchor } = await found('day')
  const address = { organizationId: 'edits-24', documentId: 'd1', editorId: 'main' }
  const edit = (given: object, more: object = {}) =>
    server.post('/v2/crdt/edit', {
      ...address,
      edits: [{ replace: { find: { anchor: { ...anchor, ...given } }, with: 'Friday' } }],
      ...more,
    })
  const elsewhere = {
    error: { status: 'INVALID_ARGUMENT', message: expect.stringContaining('the anchor is in the') },
  }
  expect((await edit({ editorId: 'side' })).body).toMatchObject(elsewhere)
  expect((await edit({}, { contentKey: 'other' })).body).toMatchObject(elsewhere)
  expect(dataOf(await edit({}))).toMatchObject({
    contentKey: 'content',
    edits: [{ place: { quote: 'Monday' } }],
  })
  expect(dataOf(await server.post('/v2/crdt/get', address))).toMatchObject([{ data: 'See you on Friday.' }])
})

it('[PRUNE-7] keeps the places of anchors when the editor is pruned, also beside deleted text', async () => {
  const { write, open, follow, anchored, found, all } = await organization('pruned')
  await write('one two three four')
  await anchored('start', { quote: 'one' })
  await anchored('middle', { quote: 'two three' })
  await anchored('end', { quote: 'four' })
  await anchored('gone', { quote: 'two' })
  const editor = await open()
  editor.text.delete(4, 4)
  editor.text.delete(0, 1)
  editor.text.delete(editor.text.length - 1, 1)
  const places = async () => (await all()).map(({ annotationId, anchorPlace }) => [annotationId, anchorPlace])
  await eventually(async () => JSON.stringify(await places()).includes('"fou"'))
  const before = await places()
  const { page, messages } = await follow()
  const pruned = { organizationId: 'pruned', documentId: 'd1', editorId: 'main' }
  for (let round = 0; round < 2; round += 1) dataOf(await server.post('/v2/crdt/prune', pruned))
  expect(await places()).toEqual(before)
  // Pages read the comments again.
  await eventually(() => messages.length === 2)
  expect(messages).toMatchObject(messages.map(() => [{ event: 'comments.changed' }]))
  page.destroy()
  await eventually(() => editor.text.toString() === 'ne three fou')
  const wordsAt = async (id: string) => {
    const [, from, to] = rangeIn(editor.doc, (await found(id)).anchor)
    return editor.text.toString().slice(from, to)
  }
  expect(await wordsAt('start')).toBe('ne')
  expect(await wordsAt('middle')).toBe('three')
  expect(await wordsAt('end')).toBe('fou')
})

it('[FMT-214] keeps the places of anchors in nodes that a migration renames or wraps, also in branches', async () => {
  const { open, follow, add, anchored, all } = await organization('migrated')
  const at = { organizationId: 'migrated', documentId: 'd1', editorId: 'main' }
  const texts = { content: 'text*' }
  const older = { doc: { content: '(p | note)+' }, p: texts, note: { content: 'p+' }, text: {} }
  const newer = {
    doc: { content: '(row | box)+' },
    row: { content: 'p+' },
    p: texts,
    box: { content: 'row+' },
    text: {},
  }
  const set = async (nodes: object, version: number) =>
    dataOf(
      await server.post('/v2/crdt/schemas/set', { name: 'board', schema: { nodes, marks: {} }, version }),
    )
  await set(older, 1)
  const data = '<p>one two</p><note><p>three four five</p></note>'
  const contentKey = 'default'
  dataOf(
    await server.post('/v2/crdt/update', {
      ...at,
      contentKey,
      type: 'xml',
      data,
      upsert: true,
      schema: 'board',
    }),
  )
  dataOf(await server.post('/v2/crdt/branches/create', { ...at, name: 'draft', userId: 'ann' }))
  await anchored('wrapped', { quote: 'two' })
  await anchored('renamed', { quote: 'three four' })
  await anchored('gone', { quote: 'five' })
  await add({
    annotationId: 'branch',
    anchor: { editorId: 'main@draft', quote: 'four' },
    comments: [say('c')],
  })
  const editor = await open()
  const note = editor.doc.getXmlFragment('default').get(1) as Y.XmlElement
  const text = (note.get(0) as Y.XmlElement).get(0) as Y.XmlText
  text.delete(10, 5)
  text.delete(0, 1)
  const places = async () => (await all()).map(({ annotationId, anchorPlace }) => [annotationId, anchorPlace])
  await eventually(async () => JSON.stringify(await places()).includes('"hree four"'))
  const before = await places()
  const { page, messages } = await follow()
  await set(newer, 2)
  const rules = [
    { rule: 'renameNode', name: 'note', to: 'box' },
    { rule: 'wrapNode', name: 'p', to: 'row' },
  ]
  dataOf(await server.post('/v2/crdt/schemas/migrate', { name: 'board', toVersion: 2, rules }))
  let migration: unknown
  await eventually(async () => {
    ;({ migration } = dataOf(await server.post('/v2/crdt/schemas/get', { name: 'board' })) as {
      migration: unknown
    })
    return JSON.stringify(migration).includes('"done"')
  })
  expect(migration).toMatchObject({ changed: 1, failures: [] })
  expect(dataOf(await server.post('/v2/crdt/get', { ...at, format: 'xml' }))).toMatchObject([
    { data: '<row><p>one two</p></row><box><row><p>hree four</p></row></box>' },
  ])
  expect(await places()).toEqual(before)
  await eventually(() => messages.length > 0)
  expect(messages[0]).toMatchObject([{ event: 'comments.changed' }])
  page.destroy()
})

it('[PRUNE-17] moves the anchors if a prune fails after its update is stored', async () => {
  const { write, anchored, all } = await organization('interrupted')
  await write('one two three')
  await anchored('middle', { quote: 'two' })
  const { log } = server.engine
  const compact = log.compact.bind(log)
  let failures = 1
  Object.assign(log, {
    compact: async (...given: Parameters<typeof compact>) => {
      failures -= 1
      if (failures >= 0) throw new Error('the process ends here')
      return compact(...given)
    },
  })
  const pruned = { organizationId: 'interrupted', documentId: 'd1', editorId: 'main' }
  expect((await server.post('/v2/crdt/prune', pruned)).status).not.toBe(200)
  Object.assign(log, { compact })
  expect(failures).toBe(0)
  await eventually(async () => JSON.stringify(await all()).includes('"quote":"two"'))
})
