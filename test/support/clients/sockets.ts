import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A socket of a process, or of all processes, as /proc shows it. */
export interface OpenSocket {
  readonly protocol: 'tcp' | 'tcp6' | 'udp' | 'udp6'
  readonly localPort: number
  /** 0: it listens, or is not connected. */
  readonly remotePort: number
}

const protocols = ['tcp', 'tcp6', 'udp', 'udp6'] as const

/** Network sockets that a process has open now. Linux only. */
export function socketsOf(pid: number): readonly OpenSocket[] {
  const own = new Set(inodesOf(pid))
  return protocols.flatMap((protocol) =>
    readIfThere(() => readFileSync(`/proc/${pid}/net/${protocol}`, 'utf8'))
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , , , , , , , inode = '']) => own.has(inode))
      .map(([, local = '', remote = '']) => ({
        protocol,
        localPort: portOf(local),
        remotePort: portOf(remote),
      })),
  )
}

/** Processes that a process has started and that are there still. */
export const childrenOf = (pid: number): readonly string[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readIfThere(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
      .split(' ')
      .filter((child) => child !== ''),
  )

const inodesOf = (pid: number): readonly string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    const [, inode] =
      /^socket:\[(\d+)\]$/.exec(readIfThere(() => readlinkSync(`/proc/${pid}/fd/${fd}`))) ?? []
    return inode === undefined ? [] : [inode]
  })

/** What is closed, or ends, while it is looked at is not there. */
function readIfThere(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

const portOf = (address: string): number => Number.parseInt(address.split(':')[1] ?? '', 16)
