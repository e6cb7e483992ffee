import { ByteReader } from './byte-reader.ts'
import { MalformedUpdateError } from './malformed.ts'

/**
 * Parses a state vector. Returns the next expected clock of each client.
 * @param clientsMax maximum number of clients; reading a million clients takes 0.5 s
 * @throws MalformedUpdateError
 */
export function readStateVector(
  bytes: Uint8Array,
  clientsMax = Number.POSITIVE_INFINITY,
): Map<number, number> {
  const reader = new ByteReader(bytes)
  const count = reader.count(2, clientsMax)
  const clocks = new Map<number, number>()
  for (let index = 0; index < count; index++) clocks.set(reader.varUint(), reader.clock())
  if (reader.left > 0) throw new MalformedUpdateError('something follows the state vector')
  return clocks
}

/** Encodes a state vector in the same way as Yjs. */
export function writeStateVector(clocks: ReadonlyMap<number, number>): Uint8Array {
  const known = [...clocks].filter(([, clock]) => clock > 0).sort(([a], [b]) => b - a)
  const bytes: number[] = []
  pushVarUint(bytes, known.length)
  for (const [client, clock] of known) {
    pushVarUint(bytes, client)
    pushVarUint(bytes, clock)
  }
  return Uint8Array.from(bytes)
}

export function encodeVarUints(...values: readonly number[]): Uint8Array {
  const bytes: number[] = []
  for (const value of values) pushVarUint(bytes, value)
  return Uint8Array.from(bytes)
}

export function pushVarUint(bytes: number[], value: number): void {
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
}
