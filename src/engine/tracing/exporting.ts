import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base';
import { Tracing } from './tracing.js';

const EXPORT_MAX_MS = 5_000;

/** `endpoint`: the collector's base address; `headers`: names and values that it wants; `sampled`: share of traces that are kept. */
export type Exporting = {
  endpoint: string;
  headers: Record<string, string>;
  service_name: string;
  sampled: number;
};

/** Spans go in batches; what a collector does not take in time is dropped, and no request waits for it. */
export function startExporting({ endpoint, headers, service_name, sampled }: Exporting): Tracing {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: EXPORT_MAX_MS });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service_name }),
    sampler: new TraceIdRatioBasedSampler(sampled),
    spanProcessors: [new BatchSpanProcessor(exporter, { exportTimeoutMillis: EXPORT_MAX_MS })],
  });
  return new Tracing(provider.getTracer('spool'), () => provider.shutdown());
}
