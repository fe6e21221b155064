import type { startExporting } from './exporting.js';
import type { Tracing } from './tracing.js';

type TracingSettings = {
  otel_exporter_otlp_endpoint: string | null;
  otel_exporter_otlp_headers: Parameters<typeof startExporting>[0]['headers'];
  otel_service_name: string;
  otel_traces_sampler_arg: number;
};

/** Null where no collector is named. What speaks OTLP is loaded only where one is. */
export async function openTracing(settings: TracingSettings): Promise<Tracing | null> {
  const { otel_exporter_otlp_endpoint: endpoint, otel_exporter_otlp_headers: headers } = settings;
  if (endpoint === null) return null;
  const exporting = await import('./exporting.js');
  const { otel_service_name: service_name, otel_traces_sampler_arg: sampled } = settings;
  return exporting.startExporting({ endpoint, headers, service_name, sampled });
}
