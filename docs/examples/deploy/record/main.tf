# Makes nothing but a record in the state: the smallest module. It shows what every module declares, and how a
# change of the size updates in place while another image replaces the machine.
terraform {
  required_version = ">= 1.4"
}

variable "region" { type = string }
variable "instance_type" { type = string }
variable "image" { type = string }
variable "name" { type = string }

variable "labels" {
  description = "Given by the caller as the member labels of the deploy's body."
  type        = map(string)
  default     = {}
}

resource "terraform_data" "image" {
  input = var.image
}

resource "terraform_data" "machine" {
  input = {
    name          = var.name
    region        = var.region
    instance_type = var.instance_type
    labels        = var.labels
  }
  triggers_replace = [terraform_data.image.output]
}

output "resource_id" {
  value = terraform_data.machine.id
}

output "machine" {
  value = terraform_data.machine.output
}
