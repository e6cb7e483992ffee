import { createHash } from 'node:crypto'

/**
 * Returns the home node of a bucket: the node with the highest weight (rendezvous hashing). When a node
 * joins, it takes over some buckets; when it leaves, its buckets get other home nodes. All other buckets keep
 * their home nodes.
 * @param nodes at least one node, in any order
 */
export function homeNodeOf(bucket: number, nodes: readonly string[]): string {
  const weighed = nodes.map((node) => ({ node, weight: weightOf(bucket, node) }))
  const [first, ...others] = weighed
  if (first === undefined) throw new RangeError('a bucket has no home without nodes')
  return others.reduce((best, each) => (isHeavier(each, best) ? each : best), first).node
}

interface Weighed {
  readonly node: string
  readonly weight: bigint
}

const weightOf = (bucket: number, node: string): bigint =>
  createHash('sha256').update(`${bucket}\0${node}`).digest().readBigUInt64BE(0)

const isHeavier = (a: Weighed, b: Weighed): boolean =>
  a.weight > b.weight || (a.weight === b.weight && a.node > b.node)
