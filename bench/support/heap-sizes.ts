/** Sizes in bytes of the objects in a heap snapshot. */
export interface HeapSizes {
  readonly total: number
  /** The sum of the sizes of all objects of a kind: the name of a class, or a type of V8. */
  readonly byKind: ReadonlyMap<string, number>
}

interface HeapSnapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[]
      readonly node_types: readonly [readonly string[], ...unknown[]]
    }
  }
  readonly nodes: readonly number[]
  readonly strings: readonly string[]
}

/**
 * Adds up the sizes in a heap snapshot of V8. Returns null if the text is incomplete.
 * @param text a file in the format `.heapsnapshot`
 */
export function heapSizes(text: string): HeapSizes | null {
  const snapshot = parse(text)
  if (snapshot === null) return null
  const { node_fields: fields, node_types: types } = snapshot.snapshot.meta
  const [typeAt, nameAt, sizeAt] = ['type', 'name', 'self_size'].map((name) => fields.indexOf(name))
  const byKind = new Map<string, number>()
  let total = 0
  for (let at = 0; at < snapshot.nodes.length; at += fields.length) {
    const numberAt = (field = 0): number => snapshot.nodes[at + field] ?? 0
    const type = types[0][numberAt(typeAt)] ?? ''
    const name = snapshot.strings[numberAt(nameAt)] ?? ''
    // The names of functions, strings and other types are too many to be useful.
    const kind = type === 'object' || type === 'native' ? name : type
    const size = numberAt(sizeAt)
    byKind.set(kind, (byKind.get(kind) ?? 0) + size)
    total += size
  }
  return { total, byKind }
}

function parse(text: string): HeapSnapshot | null {
  try {
    return JSON.parse(text) as HeapSnapshot
  } catch {
    return null
  }
}
