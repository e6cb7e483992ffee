import * as Y from 'yjs'

/** Yjs or a second copy of it. */
export type Yjs = typeof Y

/**
 * Returns clocks, deletions and content, which are equal for equal replicas. It gives roots no type: a Y.Text
 * cleans up formatting after each update, and no other replica has these deletions.
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

/** The part that is the same for roots of any type. */
type Root = Pick<Y.AbstractType<unknown>, '_start' | '_map'>

function itemsOf({ _start }: Root, yjs: Yjs): unknown[] {
  const items: unknown[] = []
  for (let item = _start; item !== null; item = item.right)
    if (!item.deleted) items.push(...contentOf(item, yjs))
  return items
}

const entriesOf = ({ _map }: Root, yjs: Yjs): [string, unknown][] =>
  [..._map].flatMap(([key, item]) => (item.deleted ? [] : [[key, contentOf(item, yjs)]]))

/** Returns the content of an item. A string gives its code units, in whatever items they are. */
function contentOf({ content }: Y.Item, yjs: Yjs): unknown[] {
  if (content instanceof yjs.ContentFormat) return [{ [content.key]: content.value }]
  return content.getContent().map((each) => (each instanceof yjs.AbstractType ? each.constructor.name : each))
}

/**
 * Returns whether a new client reads the same content in the state of this replica. Yjs turns an item into garbage if it
 * has garbage beside it. Only hostile clients create items with neighbors in other types. Such items turn into garbage when
 * the neighbors are collected, and then replicas read later items beside them differently.
 */
export function isReadAlike(doc: Y.Doc, yjs: Yjs = Y): boolean {
  const anew = new yjs.Doc()
  yjs.applyUpdate(anew, yjs.encodeStateAsUpdate(doc))
  return digest(anew, yjs) === digest(doc, yjs)
}

/**
 * Returns the content of the roots of `StockHistory`. Some replicas of Yjs read a split surrogate pair as two
 * replacement characters and others do not: both results become equal.
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

/** Replicas receive the keys of a map in different orders. */
function keysInOrder(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Returns the order of all items in all types, for any split into items: runs of ids for each list, and the
 * id of the value of each key. It includes deleted items that are not garbage.
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
