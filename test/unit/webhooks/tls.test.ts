import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AttemptSender } from '../../../src/capabilities/webhooks/sending/delivery-attempt.ts'
import { onRequest } from '../../support/clients/delivery-receiver.ts'
import { type Certificate, selfSigned } from '../../support/servers/certificates.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { answer, loopback, started, stopReceivers } from './attempt-setup.ts'

describe('TLS', () => {
  let certificate: Certificate
  let server: Server
  let requests = 0
  beforeAll(async () => {
    certificate = selfSigned('DNS:hooks.example.com')
    server = createServer(certificate, (socket) => {
      socket.on('error', () => {})
      onRequest(socket, () => {
        requests += 1
        socket.end(answer(200))
      })
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
  })
  afterAll(() => {
    server.close()
    stopReceivers()
  })

  const attempted = async (
    host: string,
    authorities?: string,
    { port }: { port: number } = server.address() as AddressInfo,
  ) => {
    const attempts = new AttemptSender({
      destinations: loopback,
      clock: new HeldClock(),
      ...(authorities !== undefined && { authorities }),
    })
    const delivery = { url: `https://${host}:${port}/`, headers: {}, body: Buffer.from('{}') }
    return attempts.make(delivery, new AbortController().signal)
  }

  it('[HOOK-137] accepts a certificate of a known authority for the host name', async () => {
    for (const host of ['hooks.example.com', 'hooks.example.com.'])
      expect(await attempted(host, certificate.cert)).toMatchObject({ result: 'answered', httpStatus: 200 })
  })

  it('[HOOK-137] sends nothing to a server with any other certificate', async () => {
    const before = requests
    const wrong = [
      await attempted('hooks.example.com'),
      await attempted('hooks.example.com', selfSigned('DNS:hooks.example.com').cert),
      await attempted('other.example.com', certificate.cert),
      await attempted('127.0.0.1', certificate.cert),
    ]
    for (const outcome of wrong)
      expect(outcome).toMatchObject({
        httpStatus: null,
        error: expect.stringMatching('the certificate is not valid'),
      })
    expect(requests).toBe(before)
  })

  it('[HOOK-137] fails if the receiver does not use TLS', async () => {
    const plain = await started((socket) => socket.once('data', () => socket.end(answer(200))))
    expect(await attempted('hooks.example.com', certificate.cert, plain)).toEqual({
      result: 'unreachable',
      httpStatus: null,
      durationMs: 0,
      error: expect.stringMatching('the TLS connection failed'),
    })
  })
})
