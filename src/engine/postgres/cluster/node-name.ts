import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

/** Of a node that has not been given a name: says where it runs, and is never that of another one. */
export const newNodeName = (): string =>
  `${hostname()
    .replace(/[^A-Za-z0-9.-]/g, '-')
    .slice(0, 100)}-${randomBytes(4).toString('hex')}`
