# Methods written in R that test whether two conditions differ over time, on prepared counts.
# Rscript differential.R METHODS FOLDER...      (started by differential.py; METHODS are joined by commas)
# A folder has counts.csv (a gene a line, no header) and samples.csv (time, condition). For each method a file
# METHOD.csv is written: p, adjusted, seconds; a gene a line. What is there already is not run again.

given <- commandArgs(trailingOnly = TRUE)
methods <- strsplit(given[1], ",")[[1]]
folders <- given[-1]
if (any(grepl("limma", methods))) suppressPackageStartupMessages(library(limma))
if (any(grepl("limma|edger", methods))) suppressPackageStartupMessages(library(edgeR))
if (any(grepl("deseq2", methods))) suppressPackageStartupMessages(library(DESeq2))

read_data <- function(folder) {
  samples <- read.csv(file.path(folder, "samples.csv"), stringsAsFactors = TRUE)
  counts <- as.matrix(read.csv(file.path(folder, "counts.csv"), header = FALSE))
  dimnames(counts) <- list(paste0("g", seq_len(nrow(counts))), paste0("s", seq_len(ncol(counts))))
  samples$when <- samples$time
  samples$time <- factor(samples$time)
  rownames(samples) <- colnames(counts)
  list(counts = counts, samples = samples)
}

# The level of each time, and at each time what the condition adds: all coefficients of the condition are tested.
# As ~ time * condition, in coefficients whose F of limma is exact: with weights it is not in those of the formula.
with_factors <- function(data) model.matrix(~ 0 + time + time:condition, data$samples)

with_splines <- function(data) {
  df <- if (nlevels(data$samples$time) > 4) 5 else 3
  model.matrix(~ splines::ns(when, df = df) * condition, data$samples)
}

of_condition <- function(design) grep("condition", colnames(design))

limma_voom <- function(data, design) {
  fit <- eBayes(lmFit(voom(calcNormFactors(DGEList(data$counts)), design), design))
  found <- topTable(fit, coef = of_condition(design), number = Inf, sort.by = "none")
  data.frame(p = found$P.Value, adjusted = found$adj.P.Val)
}

dispersed <- function(data, design) estimateDisp(calcNormFactors(DGEList(data$counts)), design)

adjusted <- function(test) data.frame(p = test$table$PValue, adjusted = p.adjust(test$table$PValue, "BH"))

run_limma_factors <- function(data) limma_voom(data, with_factors(data))

run_limma_splines <- function(data) limma_voom(data, with_splines(data))

run_edger_lrt <- function(data) {
  design <- with_factors(data)
  adjusted(glmLRT(glmFit(dispersed(data, design), design), coef = of_condition(design)))
}

run_edger_ql <- function(data) {
  design <- with_factors(data)
  adjusted(glmQLFTest(glmQLFit(dispersed(data, design), design), coef = of_condition(design)))
}

run_deseq2_lrt <- function(data) {
  set <- DESeqDataSetFromMatrix(data$counts, data$samples, ~ time * condition)
  found <- results(DESeq(set, test = "LRT", reduced = ~ time, quiet = TRUE))
  data.frame(p = found$pvalue, adjusted = found$padj)
}

run_method <- function(method, folder, data) {
  path <- file.path(folder, paste0(method, ".csv"))
  if (file.exists(path)) return(invisible())
  start <- proc.time()[["elapsed"]]
  found <- suppressMessages(get(paste0("run_", method))(data))
  found$seconds <- proc.time()[["elapsed"]] - start
  write.csv(found, paste0(path, ".part"), row.names = FALSE)
  invisible(file.rename(paste0(path, ".part"), path))
}

for (folder in folders) {
  data <- read_data(folder)
  for (method in methods) run_method(method, folder, data)
  cat(basename(folder), "\n")
}
