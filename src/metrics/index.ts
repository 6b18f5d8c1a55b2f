export { GatewayMetrics } from './gateway-metrics.ts';
export { openMetricsServer, type MetricsServer } from './metrics-server.ts';
export { ProcessMetrics } from './process-metrics.ts';
