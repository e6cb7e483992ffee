import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A network socket of a process, as the files in `/proc` describe it. */
export interface OpenSocket {
  readonly protocol: 'tcp' | 'tcp6' | 'udp' | 'udp6'
  readonly localPort: number
  /** Port of the other side; 0 if the socket listens or is not connected. */
  readonly remotePort: number
}

const protocols = ['tcp', 'tcp6', 'udp', 'udp6'] as const

/** Returns the network sockets that a process has open at the moment. Works on Linux only. */
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

/** Returns the ids of the child processes of a process. */
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

/** Returns the text of a file. Returns '' if the file disappears while it is read. */
function readIfThere(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

const portOf = (address: string): number => Number.parseInt(address.split(':')[1] ?? '', 16)
