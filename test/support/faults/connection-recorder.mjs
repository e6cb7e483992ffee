// Module that a server loads before its own code. It records each connection and each process that the server
// starts, including short ones, and each name that the server resolves.
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
      // The argument can also be an IP address on which the server listens. Such an address is not recorded.
      if (isIP(parameters[0]) === 0) tell(`dns ${parameters[0]}`)
      return real.apply(this, parameters)
    }
  }
syncBuiltinESMExports()
