import * as Y from 'yjs'

/** Type of Yjs, for functions that work with Yjs or with a second copy of it. */
export type Yjs = typeof Y

/**
 * Returns the clocks, the deletions and the content of a replica as text. Two equal replicas have the same
 * text. The function does not access roots with a type: a Y.Text would remove redundant formatting after each
 * update, and other replicas would not have these deletions.
 */
export function digest(doc: Y.Doc, yjs: Yjs = Y): string {
  const snapshot = Buffer.from(yjs.encodeSnapshot(yjs.snapshot(doc))).toString('base64')
  const roots = [...doc.share].map(([name, root]) => [
    name,
    itemsOf(root, yjs),
    Object.fromEntries(entriesOf(root, yjs)),
  ])
  return JSON.stringify(
    [snapshot, Object.fromEntries(roots.map(([name, ...content]) => [name, content]))],
    keysInOrder,
  )
}

/** The members that roots of all types have. */
type Root = Pick<Y.AbstractType<unknown>, '_start' | '_map'>

function itemsOf({ _start }: Root, yjs: Yjs): unknown[] {
  const items: unknown[] = []
  for (let item = _start; item !== null; item = item.right)
    if (!item.deleted) items.push(...contentOf(item, yjs))
  return items
}

const entriesOf = ({ _map }: Root, yjs: Yjs): [string, unknown][] =>
  [..._map].flatMap(([key, item]) => (item.deleted ? [] : [[key, contentOf(item, yjs)]]))

/**
 * Returns the content of an item. The content of a string is its code units, so the split into items has no
 * effect.
 */
function contentOf({ content }: Y.Item, yjs: Yjs): unknown[] {
  if (content instanceof yjs.ContentFormat) return [{ [content.key]: content.value }]
  return content.getContent().map((each) => (each instanceof yjs.AbstractType ? each.constructor.name : each))
}

/**
 * Returns whether a new client that loads the state of this replica reads the same content. This is not
 * always the case if a hostile client has created items with neighbors in other types. Yjs turns such an item
 * into garbage when its neighbors are garbage. Replicas then read items that are added next to it later in
 * different ways.
 */
export function isReadAlike(doc: Y.Doc, yjs: Yjs = Y): boolean {
  const anew = new yjs.Doc()
  yjs.applyUpdate(anew, yjs.encodeStateAsUpdate(doc))
  return digest(anew, yjs) === digest(doc, yjs)
}

/**
 * Returns the content of the roots of `StockHistory` as text. Some replicas of Yjs read a split surrogate
 * pair as two replacement characters, and others do not. The text is the same for both.
 */
export function contentsOf(doc: Y.Doc): string {
  const roots = [
    doc.getText('text').toDelta(),
    doc.getArray('array'),
    doc.getMap('map'),
    doc.getXmlFragment('xml'),
  ]
  return JSON.stringify([...roots, doc.toJSON()], keysInOrder).replaceAll(/[\ud800-\udfff\ufffd]/g, '?')
}

/**
 * Replacer for `JSON.stringify` that sorts the keys of objects, because replicas receive the keys of a map in
 * different orders.
 */
function keysInOrder(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Returns the order of all items in all types as text. It has the ranges of ids of each list, and the id of
 * the value of each key. The split into items has no effect. Deleted items that are not garbage are included.
 */
export function orderOf(doc: Y.Doc, yjs: Yjs = Y): string {
  const types: [string, Root][] = [...doc.share]
  for (const structs of doc.store.clients.values())
    for (const each of structs)
      if (each instanceof yjs.Item && each.content instanceof yjs.ContentType)
        types.push([`${each.id.client}:${each.id.clock}`, each.content.type])
  return JSON.stringify(
    types
      .map(([name, type]) => [name, runsOf(type), [...type._map].map(([key, { id }]) => [key, id]).sort()])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )
}

function runsOf({ _start }: Root): string[] {
  const runs: { client: number; from: number; to: number }[] = []
  for (let item = _start; item !== null; item = item.right) {
    const { client, clock } = item.id
    const last = runs.at(-1)
    if (last?.client === client && last.to === clock) last.to += item.length
    else runs.push({ client, from: clock, to: clock + item.length })
  }
  return runs.map(({ client, from, to }) => `${client}:${from}-${to}`)
}
