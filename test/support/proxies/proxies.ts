import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './process.ts'

/** Reverse proxies as Debian ships them. */
export const proxyKinds = ['nginx', 'haproxy', 'caddy', 'squid'] as const
export type ProxyKind = (typeof proxyKinds)[number]

/**
 * Faults of a proxy. All proxies reject websockets. `buffers`: holds back each response until it ends. `cuts`:
 * ends responses after 2 s. `six`: has six connections for all clients.
 */
export type ProxyFault = 'none' | 'buffers' | 'cuts' | 'six'

/** A running proxy in front of Weft. */
export interface RunningProxy {
  readonly url: string
  readonly wsUrl: string
  readonly port: number
  stop(): Promise<void>
}

interface Place {
  readonly port: number
  readonly directory: string
  /** Ports of the nodes of Weft. If there are several, the session determines the node. */
  readonly nodes: readonly number[]
}

const nginx = ({ port, directory, nodes }: Place, fault: ProxyFault): string => `
daemon off;
worker_processes 1;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join('\n  ')}
  upstream weft {
    ${nodes.length > 1 ? 'hash $arg_session consistent;' : ''}
    ${nodes.map((node) => `server 127.0.0.1:${node} max_fails=1 fail_timeout=1s;`).join('\n    ')}
  }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 16m;
    location / {
      proxy_pass http://weft;
      proxy_http_version 1.1;
      proxy_set_header Connection '';
      ${fault === 'buffers' ? 'proxy_ignore_headers X-Accel-Buffering; gzip on; gzip_proxied any; gzip_types text/event-stream; gzip_min_length 0;' : ''}
      ${fault === 'cuts' ? 'proxy_read_timeout 2s;' : ''}
    }
  }
}
`

const haproxy = ({ port, nodes }: Place, fault: ProxyFault): string => `
defaults
  mode http
  timeout connect 2s
  timeout client ${fault === 'cuts' ? '2s' : '60s'}
  timeout server ${fault === 'cuts' ? '2s' : '60s'}
  ${fault === 'six' ? 'option httpclose' : ''}
frontend clients
  bind 127.0.0.1:${port}
  ${fault === 'six' ? 'maxconn 6' : ''}
  http-request deny deny_status 403 if { req.hdr(upgrade) -i websocket }
  default_backend weft
backend weft
  ${fault === 'buffers' ? 'http-response wait-for-body time 60s' : ''}
  balance url_param session
  hash-type consistent
  ${nodes.map((node, index) => `server node-${index} 127.0.0.1:${node} check inter 200ms fall 2 rise 1`).join('\n  ')}
`

const caddy = ({ port, nodes }: Place, fault: ProxyFault): string => `
{
  admin off
  auto_https off
  ${fault === 'cuts' ? 'servers {\n    timeouts {\n      write 2s\n    }\n  }' : ''}
}
http://127.0.0.1:${port} {
  @websocket header Upgrade websocket
  respond @websocket 403
  reverse_proxy 127.0.0.1:${nodes[0]} {
    ${fault === 'buffers' ? 'buffer_responses' : ''}
  }
}
`

const squid = ({ port, directory, nodes }: Place, fault: ProxyFault): string => `
http_port 127.0.0.1:${port} accel defaultsite=127.0.0.1 no-vhost
cache_peer 127.0.0.1 parent ${nodes[0]} 0 no-query originserver name=weft login=PASSTHRU connect-fail-limit=1000000
http_access allow all
cache deny all
pid_filename ${directory}/squid.pid
access_log none
cache_log ${directory}/cache.log
coredump_dir ${directory}
shutdown_lifetime 0 seconds
pinger_enable off
${fault === 'cuts' ? 'read_timeout 2 seconds' : ''}
`

interface Program {
  readonly path: string
  readonly configure: (place: Place, fault: ProxyFault) => string
  readonly faults: readonly ProxyFault[]
  readonly args: (file: string, directory: string) => readonly string[]
}

const programs: Readonly<Record<ProxyKind, Program>> = {
  nginx: {
    path: '/usr/sbin/nginx',
    configure: nginx,
    faults: ['none', 'buffers', 'cuts'],
    args: (file, directory) => ['-c', file, '-p', directory],
  },
  haproxy: {
    path: '/usr/sbin/haproxy',
    configure: haproxy,
    faults: ['none', 'buffers', 'cuts', 'six'],
    args: (file) => ['-db', '-f', file],
  },
  caddy: {
    path: '/usr/bin/caddy',
    configure: caddy,
    faults: ['none', 'buffers', 'cuts'],
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  squid: {
    path: '/usr/sbin/squid',
    configure: squid,
    // Squid has no option that holds responses back.
    faults: ['none', 'cuts'],
    args: (file) => ['-N', '-f', file],
  },
}

/** Faults that a proxy can have. */
export const faultsOf = (kind: ProxyKind): readonly ProxyFault[] => programs[kind].faults

const isMissing = ({ path }: Program): boolean => {
  try {
    execFileSync('test', ['-x', path], { stdio: 'ignore' })
    return false
  } catch {
    return true
  }
}

/** Names of the proxies that are not installed. With WEFT_TEST_ALL=1, all are required. */
export const missingProxies = proxyKinds.filter((kind) => isMissing(programs[kind]))
if (missingProxies.length > 0) {
  const problem = `not installed: ${missingProxies.join(', ')} (Debian packages of these names)`
  if (process.env.WEFT_TEST_ALL === '1') throw new Error(problem)
  process.stderr.write(`tests behind some proxies are left out: ${problem}\n`)
}

/** Starts a proxy in front of Weft. */
export async function startProxy(
  kind: ProxyKind,
  fault: ProxyFault,
  nodes: readonly number[],
): Promise<RunningProxy> {
  const { path, configure, args } = programs[kind]
  const [port, directory] = [await freePort(), mkdtempSync(join(tmpdir(), `weft-${kind}-`))]
  // nginx and Squid give up the rights of root, but must write here.
  chmodSync(directory, 0o777)
  const file = join(directory, 'proxy.conf')
  writeFileSync(file, configure({ port, directory, nodes }, fault))
  const child = spawn(path, [...args(file, directory)], {
    cwd: directory,
    env: { ...process.env, HOME: directory, XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000)
    })
  await accepts(port, child, () => output)
  const url = `http://127.0.0.1:${port}`
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), 3_000)
      await ended
      clearTimeout(late)
    }
    rmSync(directory, { recursive: true, force: true, maxRetries: 20 })
  }
  return { url, wsUrl: url.replace('http', 'ws'), port, stop }
}

/**
 * Waits until a proxy accepts connections.
 * @throws Error with the output of the proxy if it ends before
 */
async function accepts(port: number, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const socket = createConnection(port, '127.0.0.1')
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isOpen) return
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`the proxy does not start: ${output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
