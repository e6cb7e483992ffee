import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endWithThis } from '../../../src/cli/bench/ending.ts'
import { missing, pathOf } from '../needs.ts'
import { selfSigned } from '../servers/certificates.ts'
import { freePort } from '../servers/process.ts'

/** Reverse proxies as Debian ships them. */
const proxyKinds = ['nginx', 'haproxy', 'caddy', 'squid'] as const
export type ProxyKind = (typeof proxyKinds)[number]

/**
 * What a proxy does. All proxies reject websockets. `plain`: nothing else. `buffers`: holds back each response
 * until it ends. `cuts`: ends responses after 2 s. `http2`: offers its clients HTTP/2 over TLS.
 */
export type ProxyMode = 'plain' | 'buffers' | 'cuts' | 'http2'

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

const nginx = ({ port, directory, nodes }: Place, mode: ProxyMode): string => `
daemon off;
# One process, so that its end leaves no other one.
master_process off;
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
    listen 127.0.0.1:${port}${mode === 'http2' ? ' ssl http2' : ''};
    ${mode === 'http2' ? `ssl_certificate ${directory}/both.pem; ssl_certificate_key ${directory}/both.pem;` : ''}
    client_max_body_size 16m;
    location / {
      proxy_pass http://weft;
      proxy_http_version 1.1;
      proxy_set_header Connection '';
      ${mode === 'buffers' ? 'proxy_ignore_headers X-Accel-Buffering; gzip on; gzip_proxied any; gzip_types text/event-stream; gzip_min_length 0;' : ''}
      ${mode === 'cuts' ? 'proxy_read_timeout 2s;' : ''}
    }
  }
}
`

const haproxy = ({ port, directory, nodes }: Place, mode: ProxyMode): string => `
defaults
  mode http
  timeout connect 2s
  timeout client ${mode === 'cuts' ? '2s' : '60s'}
  timeout server ${mode === 'cuts' ? '2s' : '60s'}
frontend clients
  bind 127.0.0.1:${port}${mode === 'http2' ? ` ssl crt ${directory}/both.pem alpn h2,http/1.1` : ''}
  http-request deny deny_status 403 if { req.hdr(upgrade) -i websocket }
  default_backend weft
backend weft
  ${mode === 'buffers' ? 'http-response wait-for-body time 60s' : ''}
  balance url_param session
  hash-type consistent
  ${nodes.map((node, index) => `server node-${index} 127.0.0.1:${node} check inter 200ms fall 2 rise 1`).join('\n  ')}
`

const caddy = ({ port, directory, nodes }: Place, mode: ProxyMode): string => `
{
  admin off
  auto_https off
  ${mode === 'cuts' ? 'servers {\n    timeouts {\n      write 2s\n    }\n  }' : ''}
}
${mode === 'http2' ? 'https' : 'http'}://127.0.0.1:${port} {
  ${mode === 'http2' ? `tls ${directory}/both.pem ${directory}/both.pem` : ''}
  @websocket header Upgrade websocket
  respond @websocket 403
  request_header X-Session {query.session}
  reverse_proxy ${nodes.map((node) => `127.0.0.1:${node}`).join(' ')} {
    header_up -X-Session
    lb_policy header X-Session
    lb_try_duration 5s
    fail_duration 1s
    ${mode === 'buffers' ? 'buffer_responses' : ''}
  }
}
`

/** Ids of sessions have hexadecimal digits. Each half of them has its node first, and the others after it. */
const squidPeers = (nodes: readonly number[]): string => {
  const halves = nodes.map((_, first) => [...nodes.slice(first), ...nodes.slice(0, first)])
  const digits = ['0-7', '8-f']
  return halves
    .flatMap((order, half) =>
      order.map((node, place) => {
        const name = `half-${half}-${place}`
        return `acl ${name} urlpath_regex [?&]session=[${nodes.length > 1 ? digits[half] : '0-f'}]
cache_peer 127.0.0.1 parent ${node} 0 no-query no-digest originserver name=${name} login=PASSTHRU connect-timeout=1 connect-fail-limit=1
cache_peer_access ${name} allow ${name}`
      }),
    )
    .join('\n')
}

const squid = ({ port, directory, nodes }: Place, mode: ProxyMode): string => `
http_port 127.0.0.1:${port} accel defaultsite=127.0.0.1 no-vhost
${squidPeers(nodes)}
http_access allow all
cache deny all
pid_filename ${directory}/squid.pid
access_log none
cache_log ${directory}/cache.log
coredump_dir ${directory}
shutdown_lifetime 0 seconds
pinger_enable off
${mode === 'cuts' ? 'read_timeout 2 seconds' : ''}
`

interface Program {
  readonly configure: (place: Place, mode: ProxyMode) => string
  readonly modes: readonly ProxyMode[]
  readonly args: (file: string, directory: string) => readonly string[]
}

const programs: Readonly<Record<ProxyKind, Program>> = {
  nginx: {
    configure: nginx,
    modes: ['plain', 'buffers', 'cuts', 'http2'],
    args: (file, directory) => ['-c', file, '-p', directory],
  },
  haproxy: {
    configure: haproxy,
    modes: ['plain', 'buffers', 'cuts', 'http2'],
    args: (file) => ['-db', '-f', file],
  },
  caddy: {
    configure: caddy,
    modes: ['plain', 'buffers', 'cuts', 'http2'],
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  squid: {
    configure: squid,
    // Squid has no option that holds responses back, and no HTTP/2.
    modes: ['plain', 'cuts'],
    args: (file) => ['-N', '-f', file],
  },
}

/** Modes that a proxy has. */
export const modesOf = (kind: ProxyKind): readonly ProxyMode[] =>
  programs[kind].modes.filter((mode) => mode !== 'http2' || missing('openssl') === null)

/** Returns the proxies that are installed. With WEFT_TEST_REQUIRED=1, all are required. */
export const installedProxies = (): readonly ProxyKind[] =>
  proxyKinds.filter((kind) => missing(kind) === null)

/** Starts a proxy in front of Weft. */
export async function startProxy(
  kind: ProxyKind,
  mode: ProxyMode,
  nodes: readonly number[],
): Promise<RunningProxy> {
  const { configure, args } = programs[kind]
  const [port, directory] = [await freePort(), mkdtempSync(join(tmpdir(), `weft-${kind}-`))]
  // nginx and Squid give up the rights of root, but must write here.
  chmodSync(directory, 0o777)
  if (mode === 'http2') {
    const { cert, key } = selfSigned('IP:127.0.0.1')
    writeFileSync(join(directory, 'both.pem'), cert + key)
  }
  const file = join(directory, 'proxy.conf')
  writeFileSync(file, configure({ port, directory, nodes }, mode))
  const child = spawn(pathOf(kind), [...args(file, directory)], {
    cwd: directory,
    env: { ...process.env, HOME: directory, XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithThis(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000)
    })
  await accepts(port, child, () => output)
  const url = `${mode === 'http2' ? 'https' : 'http'}://127.0.0.1:${port}`
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
