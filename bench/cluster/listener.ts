// Runs a node that receives messages about documents that it does not have, and ignores them. It receives
// them because it has other documents in the same buckets.

import { openCopies } from './bare-copies.ts'
import { toldDocument } from './hearing.ts'

const [url = '', schema = '', nats = '', documents = '0'] = process.argv.slice(2)
const copies = await openCopies(url, schema, nats, `listener-${process.pid}`)
for (let index = 0; index < Number(documents); index++) await copies.watch(toldDocument(index))
process.send?.('ready')
