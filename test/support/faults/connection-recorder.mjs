// Loaded into a server before its own code. Records each connection and process that it starts, also short ones, and each
// name that it resolves.
import { subscribe } from 'node:diagnostics_channel'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isIP } from 'node:net'

const tell = (what) => appendFileSync(process.env.CONNECTIONS_FILE, `${what}\n`)
subscribe('net.client.socket', () => tell('tcp'))
subscribe('udp.socket', () => tell('udp'))
subscribe('child_process', () => tell('process'))
for (const asks of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype])
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
    const real = asks[name]
    if (real === undefined) continue
    asks[name] = function (...parameters) {
      // Addresses to listen on pass here also, and they are not names.
      if (isIP(parameters[0]) === 0) tell(`dns ${parameters[0]}`)
      return real.apply(this, parameters)
    }
  }
syncBuiltinESMExports()
