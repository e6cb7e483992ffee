import { Counter, Gauge } from 'prom-client'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { Engine } from '../core/store/engine.ts'

/** Registers the metrics of this node about the other nodes. */
export function registerClusterMetrics({ registry }: Metrics, { bus, cluster }: Engine): void {
  const measure = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  measure(
    'weft_nodes',
    'Nodes that share the store and are alive, this one included',
    () => cluster.nodes().length,
  )
  measure('weft_bus_connected', '1 while the bus is connected; always 1 without NATS', () =>
    bus.isConnected ? 1 : 0,
  )
  const losses = new Counter({
    name: 'weft_bus_losses_total',
    help: 'Message losses that the bus reported; after each, the node compared its logs with the store',
    registers: [registry],
  })
  bus.onLoss(() => losses.inc())
}
